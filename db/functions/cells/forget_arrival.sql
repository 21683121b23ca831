-- For the server: a move that is cancelled brings nothing here any more. Refused once the tenant lives here. Whoever brings rows at this moment is waited
-- for, and told here that the move is over. request: {tenant_id, move_id, cell: where it stays}.
create or replace function app.forget_arrival(request json)
returns void
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant constant text := request ->> 'tenant_id';
begin
  perform app.assert_server('move tenants');
  perform app.lock_named('moving ' || v_tenant);
  perform 1 from app.moving_tenants m where m.tenant = v_tenant and m.move_id::text = request ->> 'move_id' for update;
  if exists (select from app.tenants t join app.moved_tenants m on m.tenant = t.tenant_id where t.tenant_id = v_tenant and m.move_id::text = request ->> 'move_id') then
    raise exception 'tenant "%" lives in this cell already', v_tenant using errcode = 'FF006', hint = 'finish the move, and move it back';
  end if;
  delete from app.moving_tenants m where m.tenant = v_tenant and m.move_id::text = request ->> 'move_id' and m.state = 'arriving';
  insert into app.moved_tenants (tenant, cell, move_id) values (v_tenant, request ->> 'cell', (request ->> 'move_id')::uuid)
  on conflict (tenant) do update set cell = excluded.cell, move_id = excluded.move_id, moved_at = now();
end $$;
grant execute on function app.forget_arrival(json) to fanfold_api, fanfold_admin;
