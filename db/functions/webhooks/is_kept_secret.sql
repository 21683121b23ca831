-- May this text stand where a secret is kept: sealed, or the name of one? Anything else would be a secret in plain text.
create or replace function app.is_kept_secret(kept text)
returns boolean
language sql immutable
as $$
  select kept ~ '^secret://[a-z0-9]([a-z0-9_.-]{0,61}[a-z0-9])?$' or (kept ~ '^v1\.[0-9a-f]{8}\.[A-Za-z0-9_-]+$' and length(kept) <= 4000)
$$;
