-- The table that a load fills and that becomes a layer when it is published. spec: {columns: [{name, pg_type}], srid, has_geometry}. The
-- same load asking again is given the same table.
create or replace function geo.make_candidate(of_job text, of_layer text, spec jsonb, tenant text default null)
returns text
language plpgsql security definer
set search_path = pg_catalog, geo, app, @postgis@, pg_temp
as $$
declare
  c_types constant text[] := array['text', 'integer', 'bigint', 'double precision', 'boolean', 'date', 'timestamptz', 'jsonb'];
  v_tenant text := app.acting_tenant(tenant);
  v_facts jsonb := jsonb_build_object('layer', of_layer, 'spec', spec);
  v_name text;
  v_columns text;
begin
  select t.table_name into v_name from geo.tables t
   where t.tenant_id = v_tenant and t.job_id = of_job and t.kind = 'candidate' and t.doomed_at is null and t.facts = v_facts;
  if found then
    return v_name;
  end if;
  if exists (select from jsonb_array_elements(spec -> 'columns') c where not c ->> 'pg_type' = any (c_types) or octet_length(c ->> 'name') not between 1 and 63) then
    perform geo.refuse('a column has a type or a name that layers cannot have', 'types are: ' || array_to_string(c_types, ', '));
  end if;
  if jsonb_array_length(spec -> 'columns') > 1500 then
    perform geo.refuse('a layer has at most 1500 columns', 'choose some with columns', 'FF004');
  end if;
  v_name := 'layer_' || nextval('geo.table_numbers');
  select string_agg(format(', %I %s', c ->> 'name', c ->> 'pg_type'), '' order by n) into v_columns
    from jsonb_array_elements(spec -> 'columns') with ordinality a (c, n);
  execute format('create table geo.%I (fid bigint not null%s%s)', v_name, coalesce(v_columns, ''),
    case when (spec ->> 'has_geometry')::boolean then format(', geom @postgis@.geometry(Geometry, %s)', (spec ->> 'srid')::integer) else '' end);
  perform geo.protect_table(v_name, v_tenant);
  insert into geo.tables (table_name, tenant_id, kind, job_id, facts) values (v_name, v_tenant, 'candidate', of_job, v_facts);
  return v_name;
end $$;
grant execute on function geo.make_candidate(text, text, jsonb, text) to fanfold_api, fanfold_worker, fanfold_admin;
