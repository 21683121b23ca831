-- One value of a task as it is stored: {value, spill}. The text of a number is not touched.
create or replace function app.task_value(task_id text, name text, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_found record := app.find_task(app.acting_tenant(tenant), task_id);
  v_stage app.stages := v_found.stage;
begin
  return (
    select json_build_object(
        'value', case name
          when 'parameters' then k.parameters
          when 'metadata' then k.metadata
          when 'result' then r.result
          when 'next_stage_params' then r.next_stage_params
          when 'deliverables' then r.deliverables
        end::text,
        'spill', case when name = 'result' then r.spill end)
      from app.tasks k
      left join app.results r on r.stage_id = k.stage_id and r.ordinal = k.ordinal
     where k.stage_id = v_stage.stage_id and k.ordinal = v_found.ordinal);
end $$;
grant execute on function app.task_value(text, text, text) to fanfold_api, fanfold_admin;
