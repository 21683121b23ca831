-- Copies a layer as it is at this moment into a table of its own, in the order of a curve through space, for an export to read in pages.
-- Reading the layer's own table would take appended rows for part of the version, and sort it once for each page. request: {srid, columns?
-- [names]}. Gives what the export has to know of it. The same job asking again is given the same copy.
create or replace function geo.make_snapshot(of_job text, of_layer text, request jsonb, tenant text default null)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, geo, app, @postgis@, pg_temp
set timezone = 'UTC'
set jit = off
set work_mem = '64MB'
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_layer geo.layers;
  v_columns jsonb;
  v_asked jsonb := jsonb_build_object('layer', of_layer, 'request', request);
  v_srid integer := (request ->> 'srid')::integer;
  v_place text;
  v_facts jsonb;
  v_name text;
  v_unknown text;
begin
  select t.facts into v_facts from geo.tables t
   where t.tenant_id = v_tenant and t.job_id = of_job and t.kind = 'snapshot' and t.doomed_at is null and t.facts @> v_asked;
  if found then
    return v_facts - array['layer', 'request'];
  end if;
  select l.* into v_layer from geo.layers l where l.tenant_id = v_tenant and l.name = of_layer;
  if not found then
    perform geo.refuse(format('there is no layer "%s"', left(of_layer, 130)), 'see the collections at /ogc/collections', 'FF001');
  end if;
  select string_agg(w.one, ', ') into v_unknown from jsonb_array_elements_text(coalesce(request -> 'columns', '[]')) w (one)
   where not exists (select from jsonb_array_elements(v_layer.columns) c where c ->> 'name' = w.one);
  if v_unknown is not null then
    perform geo.refuse(format('the layer "%s" has no columns: %s', of_layer, left(v_unknown, 500)),
      'it has: ' || left((select string_agg(c ->> 'name', ', ') from jsonb_array_elements(v_layer.columns) c), 1000));
  end if;
  select coalesce(jsonb_agg(c.one order by c.n), '[]') into v_columns from jsonb_array_elements(v_layer.columns) with ordinality c (one, n)
   where not request ? 'columns' or request -> 'columns' ? (c.one ->> 'name');
  v_place := case when v_layer.geometry_column is null then null when v_layer.srid = v_srid then format('t.%I', v_layer.geometry_column) else format('st_transform(t.%I, %s)', v_layer.geometry_column, v_srid) end;
  v_name := 'snapshot_' || nextval('geo.table_numbers');
  -- bytes: of this row and all before it, so that a page can be cut by its size before anything of it is read.
  execute format(
    $q$create table geo.%I with (autovacuum_enabled = off) as
       select row_number() over o as n, sum(s.size) over (o rows unbounded preceding)::bigint as bytes, s.key %s %s
         from (select t.%I as key, %s as size %s %s from geo.%I t) s
       window o as (order by %s s.key)$q$,
    v_name,
    (select string_agg(format(', s.c%s', c.n), '' order by c.n) from jsonb_array_elements(v_columns) with ordinality c (one, n)),
    case when v_layer.geometry_column is not null then ', s.geom' end,
    v_layer.key_column, geo.size_text(v_columns, v_layer.geometry_column),
    (select string_agg(format(', t.%I as c%s', c.one ->> 'name', c.n), '' order by c.n) from jsonb_array_elements(v_columns) with ordinality c (one, n)),
    case when v_layer.geometry_column is not null then format(', %s as geom', v_place) end,
    v_layer.table_name,
    case when v_layer.geometry_column is not null then 's.geom,' end);
  -- The row is not locked meanwhile, because a publication would wait for it; rows that came between the look and the copy are seen here.
  if exists (select from geo.layers l where l.tenant_id = v_tenant and l.name = of_layer and l.table_name = v_layer.table_name and l.version <> v_layer.version) then
    perform geo.refuse(format('rows were added to the layer "%s" while it was copied', of_layer), 'it is tried again', '40001');
  end if;
  execute format('alter table geo.%I add constraint %I primary key (n)', v_name, v_name || '_key');
  execute format('analyze geo.%I', v_name);
  v_facts := to_jsonb(v_layer) - array['tenant_id', 'table_name', 'styles', 'source', 'item_id', 'job_id', 'geometry_column', 'srid', 'columns']
    || geo.snapshot_facts(v_name, v_layer.geometry_column is not null)
    || jsonb_build_object('table_name', v_name, 'columns', v_columns, 'srid', case when v_layer.geometry_column is not null then v_srid end);
  insert into geo.tables (table_name, tenant_id, kind, job_id, facts) values (v_name, v_tenant, 'snapshot', of_job, v_facts || v_asked);
  return v_facts;
end $$;
grant execute on function geo.make_snapshot(text, text, jsonb, text) to fanfold_worker, fanfold_admin;
