-- As load_rows, one row at a time: those that cannot be read or cast are rejected with what the database said of them.
create or replace function geo.load_row_by_row(candidate geo.tables, of_stage text, request jsonb)
returns jsonb
language plpgsql
as $$
declare
  v_facts jsonb := '{}';
  v_row record;
  v_code text;
  v_reason text;
begin
  execute format('create index on geo.%I (n)', of_stage);
  for v_row in execute format('select s.n, left(s.g, 40) as g from geo.%I s order by s.n', of_stage) loop
    begin
      v_facts := geo.add_facts(v_facts, geo.load_rows(candidate, of_stage, request, v_row.n));
    exception
      when data_exception or internal_error or program_limit_exceeded or invalid_parameter_value or raise_exception then
        get stacked diagnostics v_reason = message_text;
        v_code := case
          when v_reason ~* 'geometry|transform|wkb|parse error|ring|EPSG|proj' then 'unreadable_geometry'
          else 'bad_value'
        end;
        insert into geo.rejects (tenant_id, job_id, layer, chunk, row_number, source, code, reason, properties)
        values (candidate.tenant_id, candidate.job_id, candidate.facts ->> 'layer', (request ->> 'chunk')::integer, v_row.n,
          request ->> 'source', v_code, left(v_reason, 500), jsonb_build_object('geometry', v_row.g))
        on conflict do nothing;
        v_facts := geo.add_facts(v_facts, jsonb_build_object('rejected_count', 1, 'codes', jsonb_build_object(v_code, 1)));
    end;
  end loop;
  return v_facts;
end $$;
