-- A name as a part of keys and addresses: letters, digits, . _ and -, at most 100 characters. One that had to be changed carries a piece of
-- its hash, so that two names never become one.
create or replace function platform.slug(name text)
returns text
language sql immutable
as $$
  select case when name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$' then name
    else left(regexp_replace(regexp_replace('x' || name, '[^A-Za-z0-9._-]+', '-', 'g'), '^x(?=[A-Za-z0-9])', ''), 80)
      || '-' || left(encode(sha256(convert_to(name, 'UTF8')), 'hex'), 8) end
$$;
grant execute on function platform.slug(text) to fanfold_api, fanfold_worker, fanfold_admin;
