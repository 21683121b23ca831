-- For the server of the cell that a tenant comes to: nothing of it is claimed or called here until all is there. request: {tenant_id, move_id, cell, numbers,
-- actor?}: of the cell that it comes from. Returns its state here: arriving, or arrived.
create or replace function app.begin_arrival(request json)
returns text
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set lock_timeout = '300ms'
as $$
declare
  v_tenant constant text := request ->> 'tenant_id';
  v_cell app.cell;
  v_move app.moving_tenants;
begin
  perform app.assert_server('move tenants');
  perform app.lock_named('moving ' || v_tenant);
  select * into v_cell from app.cell;
  if not found then
    raise exception 'the database that tenant "%" shall move to is no cell yet', v_tenant using errcode = 'FF006', hint = 'number the cells first', detail = app.action('cells.prepare');
  end if;
  select * into v_move from app.moving_tenants m where m.tenant = v_tenant;
  if found then
    if v_move.move_id::text <> request ->> 'move_id' then
      raise exception 'tenant "%" is being moved already, here by another move', v_tenant using errcode = 'FF006', hint = 'finish that move, or cancel it';
    end if;
    -- Meanwhile the other cell has given numbers.
    perform app.advance_numbers(v_cell.number, request -> 'numbers');
    return v_move.state;
  end if;
  if exists (select from app.tenants t where t.tenant_id = v_tenant) then
    if exists (select from app.moved_tenants m where m.tenant = v_tenant and m.move_id::text = request ->> 'move_id') then
      return 'arrived';
    end if;
    raise exception 'cell "%" has a tenant "%" of its own', v_cell.name, v_tenant using errcode = 'FF006', hint = 'a tenant lives in one cell: remove or rename one of the two';
  end if;
  if exists (select from app.moved_tenants m where m.tenant = v_tenant and m.move_id::text = request ->> 'move_id') then
    raise exception 'this move of tenant "%" was cancelled', v_tenant using errcode = 'FF006', hint = 'begin anew', detail = app.action('cells.move', name => v_tenant);
  end if;
  perform app.advance_numbers(v_cell.number, request -> 'numbers');
  insert into app.moving_tenants (tenant, move_id, state, other_cell, actor)
  values (v_tenant, (request ->> 'move_id')::uuid, 'arriving', request ->> 'cell', request ->> 'actor');
  return 'arriving';
end $$;
grant execute on function app.begin_arrival(json) to fanfold_api, fanfold_admin;
