-- A page of a snapshot: a text that is a JSON list of rows, [n, key, geometry, xmin, ymin, xmax, ymax, columns…], behind row `behind`. request:
-- {geometry: wkb (hexadecimal) | wkt | geojson | none, rows, bytes}. It ends where rows or bytes are reached, and has one row at least.
-- Whole numbers of 64 bits and moments (in microseconds) are texts, days are counted from 1970, JSON is a text.
create or replace function geo.read_snapshot(of_table text, behind bigint, request jsonb, tenant text default null)
returns text
language plpgsql stable security definer
set search_path = pg_catalog, geo, app, @postgis@, pg_temp
set timezone = 'UTC'
set jit = off
set max_parallel_workers_per_gather = 0
as $$
declare
  v_facts jsonb;
  v_rows integer := least(greatest((request ->> 'rows')::integer, 1), 50000);
  v_before bigint;
  v_last bigint;
  v_page text;
begin
  select t.facts into v_facts from geo.tables t
   where t.table_name = of_table and t.tenant_id = app.acting_tenant(tenant) and t.kind = 'snapshot' and t.doomed_at is null;
  if not found then
    perform geo.refuse(format('there is no snapshot "%s"', left(of_table, 80)), 'export again: its job was given up or is over', 'FF001');
  end if;
  execute format('select coalesce((select t.bytes from geo.%1$I t where t.n = $1), 0)', of_table) into v_before using behind;
  execute format('select coalesce(max(t.n), $1 + 1) from geo.%1$I t where t.n > $1 and t.n <= $1 + $2 and t.bytes <= $3', of_table)
    into v_last using behind, v_rows, v_before + (request ->> 'bytes')::bigint;
  execute format('select coalesce(string_agg(%s, e'',\n'' order by t.n), '''') from geo.%I t where t.n > $1 and t.n <= $2',
    geo.snapshot_row(v_facts, request ->> 'geometry'), of_table) into v_page using behind, v_last;
  return '[' || v_page || ']';
end $$;
grant execute on function geo.read_snapshot(text, bigint, jsonb, text) to fanfold_worker, fanfold_admin, fanfold_handler;
