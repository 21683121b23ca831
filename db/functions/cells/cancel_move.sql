-- For the server: the tenant stays where it is. The caller has taken away first what had arrived in the other cell. request: {tenant_id, move_id}.
create or replace function app.cancel_move(request json)
returns void
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_move constant app.moving_tenants := app.the_move(request, array['draining', 'closed']);
begin
  delete from app.moving_tenants m where m.tenant = v_move.tenant;
  perform app.wake(array(select distinct r.task_type from app.ready r where r.tenant_id = v_move.tenant));
end $$;
grant execute on function app.cancel_move(json) to fanfold_api, fanfold_admin;
