-- For the server: takes away a piece of what a tenant left behind that lives in the other cell now. request: {tenant_id, move_id}. Returns whether there
-- is more.
create or replace function app.leave_for_good(request json)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_move constant app.moving_tenants := app.the_move(request, array['closed', 'leaving']);
  v_more boolean := exists (select from app.tenants t where t.tenant_id = v_move.tenant);
begin
  update app.moving_tenants m set state = 'leaving', changed_at = now() where m.tenant = v_move.tenant and m.state = 'closed';
  insert into app.moved_tenants (tenant, cell, move_id) values (v_move.tenant, v_move.other_cell, v_move.move_id)
  on conflict (tenant) do update set cell = excluded.cell, move_id = excluded.move_id, moved_at = now();
  if v_more then
    v_more := (app.remove_tenant(json_build_object(
      'tenant_id', v_move.tenant, 'confirm', v_move.tenant, 'move_id', v_move.move_id, 'actor', v_move.actor,
      'reason', 'moved to cell ' || v_move.other_cell)) ->> 'more')::boolean;
  end if;
  if not v_more then
    delete from app.moving_tenants m where m.tenant = v_move.tenant;
  end if;
  return v_more;
end $$;
grant execute on function app.leave_for_good(json) to fanfold_api, fanfold_admin;
