-- The key of an advisory lock. Anybody who may log in can take any advisory lock: nobody but the owner can say which key is whose.
create or replace function app.lock_key(name text, kind integer)
returns bigint
language sql stable
as $$
  select hashtextextended(name, s.salt # kind::bigint) from app.lock_salt s
$$;
