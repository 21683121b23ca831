-- For the server: a tenant begins to leave for another cell. Nothing of it is claimed any more; its calls go on. request: {tenant_id, move_id, cell,
-- actor?}. Again with the same move: as it stands. Returns its state here.
create or replace function app.begin_move(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant constant text := request ->> 'tenant_id';
  v_layers boolean := false;
  v_move app.moving_tenants;
begin
  perform app.assert_server('move tenants');
  perform app.lock_named('moving ' || v_tenant);
  select * into v_move from app.moving_tenants m where m.tenant = v_tenant;
  if found then
    if v_move.move_id::text <> request ->> 'move_id' then
      raise exception 'tenant "%" is being moved already, % cell "%"', v_tenant, case when v_move.state = 'arriving' then 'from' else 'to' end, v_move.other_cell
        using errcode = 'FF006', hint = 'finish that move, or cancel it';
    end if;
    return row_to_json(v_move);
  end if;
  perform app.get_tenant(v_tenant);
  if v_tenant = 'default' then
    raise exception 'the default tenant stays' using errcode = 'FF006', hint = 'each cell has one of its own';
  end if;
  if not exists (select from app.cell) then
    raise exception 'this database is no cell yet' using errcode = 'FF006', hint = 'number the cells first', detail = app.action('cells.prepare');
  end if;
  if exists (select from app.tenant_roles r where r.tenant_id = v_tenant) then
    raise exception 'tenant "%" has logins of its own in this database', v_tenant
      using errcode = 'FF006', hint = 'they would stay behind: take them away first, and make them in the other cell after the move';
  end if;
  if to_regclass('geo.tables') is not null then
    execute format('select exists (select from %I.tables t where t.tenant_id = $1)', 'geo') into v_layers using v_tenant;
  end if;
  if v_layers then
    raise exception 'tenant "%" has vector layers, whose tables do not move', v_tenant
      using errcode = 'FF006', hint = 'export the layers, unpublish them, and load them again in the other cell';
  end if;
  insert into app.moving_tenants (tenant, move_id, state, other_cell, actor)
  values (v_tenant, (request ->> 'move_id')::uuid, 'draining', request ->> 'cell', request ->> 'actor')
  returning * into v_move;
  return row_to_json(v_move);
end $$;
grant execute on function app.begin_move(json) to fanfold_api, fanfold_admin;
