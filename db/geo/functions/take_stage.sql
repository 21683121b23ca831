-- Moves the rows of a stage into the candidate, cleaned and cast, and those that cannot be into the rejects; then the stage is gone.
-- request: {chunk, source, columns: [{name, pg_type, kind, source_name, at}], source_srid, target_srid, keeps_null, rejects: [...]}.
-- A chunk is taken once: who comes second is told what the first found, and adds nothing.
create or replace function geo.take_stage(of_stage text, request jsonb, tenant text default null)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, geo, app, @postgis@, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO, YMD'
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_stage geo.tables := geo.own_table(of_stage, 'stage', v_tenant, true);
  v_candidate geo.tables := geo.own_table(v_stage.facts ->> 'candidate', 'candidate', v_tenant);
  v_chunk integer := (request ->> 'chunk')::integer;
  v_facts jsonb;
begin
  insert into geo.chunks (table_name, chunk, tenant_id, facts)
  values (v_candidate.table_name, v_chunk, v_tenant, '{}')
  on conflict do nothing;
  if found then
    insert into geo.rejects (tenant_id, job_id, layer, chunk, row_number, source, code, reason, properties)
    select v_tenant, v_candidate.job_id, v_candidate.facts ->> 'layer', v_chunk, (r ->> 'n')::bigint, request ->> 'source',
      r ->> 'code', r ->> 'reason', r -> 'properties'
      from jsonb_array_elements(coalesce(request -> 'rejects', '[]')) r
    on conflict do nothing;
    begin
      v_facts := geo.load_rows(v_candidate, of_stage, request, null);
    exception
      -- One row that cannot be read or cast fails the whole statement: then each is tried alone.
      when data_exception or internal_error or program_limit_exceeded or invalid_parameter_value or raise_exception then
        v_facts := geo.load_row_by_row(v_candidate, of_stage, request);
    end;
    v_facts := geo.add_facts(v_facts, coalesce((
      select jsonb_build_object('rejected_count', sum(k.count), 'codes', jsonb_object_agg(k.code, k.count))
        from (select r ->> 'code' as code, count(*) from jsonb_array_elements(coalesce(request -> 'rejects', '[]')) r group by 1) k
      having count(*) > 0), '{}'));
    update geo.chunks c set facts = v_facts where c.table_name = v_candidate.table_name and c.chunk = v_chunk;
  else
    v_facts := (select c.facts from geo.chunks c where c.table_name = v_candidate.table_name and c.chunk = v_chunk);
  end if;
  execute format('drop table geo.%I', of_stage);
  delete from geo.tables t where t.table_name = of_stage;
  return v_facts;
end $$;
grant execute on function geo.take_stage(text, jsonb, text) to fanfold_api, fanfold_worker, fanfold_admin, fanfold_handler;
