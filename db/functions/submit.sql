-- For psql: submits a job of a data-only blueprint.
--   select app.submit('{"type": "greet", "stages": [{"name": "say", "task": "hello.say"}]}', '{"name": "Ada"}');
create or replace function app.submit(
  blueprint jsonb, parameters jsonb default '{}', mode text default 'reuse', options jsonb default '{}', tenant text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_stage text;
  v_identity text;
begin
  if jsonb_typeof(parameters) is distinct from 'object' then
    raise exception 'parameters must be a JSON object, not %', coalesce(jsonb_typeof(parameters), 'null') using errcode = 'FF002';
  end if;
  if jsonb_typeof(blueprint -> 'stages') = 'array' then
    select s ->> 'name' into v_stage
      from jsonb_array_elements(blueprint -> 'stages') s
     where s -> 'plan' ? 'function' or s -> 'when' ? 'function'
     limit 1;
  end if;
  if v_stage is not null then
    raise exception 'stage "%" is planned by code', v_stage
      using errcode = 'FF002', hint = 'psql submits data-only blueprints; submit this one from TypeScript';
  end if;
  if jsonb_typeof(blueprint -> 'identity') = 'array' then
    select app.canonical(coalesce(jsonb_object_agg(i, parameters -> i) filter (where parameters ? i), '{}'))
      into v_identity
      from jsonb_array_elements_text(blueprint -> 'identity') i;
  end if;
  return app.submit_jobs(blueprint, json_build_object('tenant', tenant, 'mode', mode, 'jobs', jsonb_build_array(
    coalesce(options, '{}') || case when options -> 'deadline_s' = 'null' then '{"no_deadline": true}' else '{}' end::jsonb
      || jsonb_build_object('parameters', app.canonical(parameters)) || coalesce(jsonb_build_object('identity', v_identity), '{}')))) -> 0;
end $$;
grant execute on function app.submit(jsonb, jsonb, text, jsonb, text) to fanfold_api, fanfold_admin;
