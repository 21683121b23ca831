-- Gives a mapped login role its bounds in this database, as far as the caller may do that; what is set already stays.
-- Returns the names of those that the role has not. With the rights of its caller: the owner of the tables may not alter roles.
create or replace function app.bound_role(login_role name, is_server boolean)
returns text[]
language plpgsql
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_bound record;
begin
  for v_bound in select * from app.unset_bounds(login_role, is_server) loop
    begin
      execute format('alter role %I in database %I set %I = %L', login_role, current_database(), v_bound.name, v_bound.value);
    exception
      -- Also a session that does the same at this moment.
      when insufficient_privilege or internal_error then null;
    end;
  end loop;
  return array(select b.name from app.unset_bounds(login_role, is_server) b);
end $$;
grant execute on function app.bound_role(name, boolean) to fanfold_admin;
