-- Tells this database from others that may share places with it; nothing can be learnt from it.
create or replace function app.deployment_id()
returns text
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  return coalesce((select left(encode(sha256(convert_to('fanfold deployment ' || s.salt, 'UTF8')), 'hex'), 16) from app.lock_salt s limit 1), '');
end $$;
grant execute on function app.deployment_id() to fanfold_api, fanfold_worker, fanfold_admin;
