-- For the server: which cell this database is, how far it has numbered, and who is between two cells.
create or replace function app.cell_facts()
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_cell app.cell;
  v_sequence record;
  v_last bigint;
  v_numbers jsonb := '{}'::jsonb;
begin
  perform app.assert_server('look at cells');
  select * into v_cell from app.cell;
  for v_sequence in select s.name from app.cell_sequences() s loop
    execute format('select s.last_value from %s s', v_sequence.name) into v_last;
    v_numbers := v_numbers || jsonb_build_object(v_sequence.name, v_last);
  end loop;
  return json_build_object(
    'number', v_cell.number, 'name', v_cell.name, 'numbers', v_numbers,
    'tenants', (select count(*) from app.tenants),
    'moving', (
      select coalesce(json_agg(json_build_object(
          'tenant_id', m.tenant, 'move_id', m.move_id, 'state', m.state, 'other_cell', m.other_cell, 'began_at', m.began_at, 'changed_at', m.changed_at,
          'held', (select coalesce(sum(app.held_count(c.held)), 0) from app.claims c where c.tenant_id = m.tenant)) order by m.tenant), '[]')
        from app.moving_tenants m));
end $$;
grant execute on function app.cell_facts() to fanfold_api, fanfold_admin;
