-- Bounds that a login role should have in this database, and for which nobody has set anything; none of a superuser's.
create or replace function app.unset_bounds(login_role name, is_server boolean)
returns table (name text, value text)
language sql stable
set search_path = pg_catalog, app, pg_temp
as $$
  select b.name, b.value
    from app.role_bounds(is_server) b
    join pg_roles r on r.rolname = login_role and not r.rolsuper
   where not exists (
     select from pg_db_role_setting s
       cross join unnest(s.setconfig) c
      where s.setrole in (0, r.oid) and s.setdatabase in (0, (select d.oid from pg_database d where d.datname = current_database()))
        and starts_with(c, b.name || '='))
$$;
grant execute on function app.unset_bounds(name, boolean) to fanfold_api, fanfold_worker, fanfold_admin;
