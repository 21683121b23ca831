-- What makes two failures the same: category, code, and the message with paths, ids and numbers masked. Short, and stable
-- across versions: people paste it into commands.
create or replace function app.error_signature(category text, code text, message text)
returns text
language sql immutable
as $$
  select left(encode(sha256(convert_to(
    coalesce(category, '') || '|' || coalesce(code, '') || '|' || app.masked_message(message), 'UTF8')), 'hex'), 12)
$$;
