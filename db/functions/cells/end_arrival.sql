-- For the server, in the transaction that brought the rows: from its commit on the tenant lives in this cell. Before it the other cell may take the
-- tenant back, after it never. request: {tenant_id, move_id}.
create or replace function app.end_arrival(request json)
returns void
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_move constant app.moving_tenants := app.the_move(request, array['arriving']);
begin
  perform app.get_tenant(v_move.tenant);
  delete from app.moving_tenants m where m.tenant = v_move.tenant;
  delete from app.tenant_origins o where o.tenant_id = v_move.tenant and o.deployment = app.deployment_id();
  insert into app.moved_tenants (tenant, cell, move_id) values (v_move.tenant, (select c.name from app.cell c), v_move.move_id)
  on conflict (tenant) do update set cell = excluded.cell, move_id = excluded.move_id, moved_at = now();
  perform app.note(v_move.tenant, 'tenant.moved', null, null, null,
    jsonb_build_object('from', v_move.other_cell, 'to', (select c.name from app.cell c)), v_move.actor);
  perform app.wake(array(select distinct r.task_type from app.ready r where r.tenant_id = v_move.tenant));
end $$;
grant execute on function app.end_arrival(json) to fanfold_api, fanfold_admin;
