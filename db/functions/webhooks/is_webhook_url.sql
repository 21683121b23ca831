-- May this text be sent to, as far as the text tells? Where it leads to is judged when it is sent.
create or replace function app.is_webhook_url(url text)
returns boolean
language sql immutable
as $$ select url ~* '^https?://[^\s/?#@\\]+([/?#][\x21-\x7e]*)?$' and octet_length(url) <= 2048 and url !~ '\\' $$;
