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
begin
  if jsonb_typeof(blueprint -> 'stages') = 'array' then
    select s ->> 'name' into v_stage
      from jsonb_array_elements(blueprint -> 'stages') s
     where s -> 'plan' ? 'function' or s -> 'when' ? 'function'
     limit 1;
  end if;
  if v_stage is not null then
    raise exception 'stage "%" is planned by code', v_stage
      using errcode = 'FF002', hint = 'submit it by its name, as the workers have it: select app.submit(''the_type'', ''{}'')';
  end if;
  return app.submit_one(blueprint, parameters, mode, options, tenant);
end $$;
grant execute on function app.submit(jsonb, jsonb, text, jsonb, text) to fanfold_api, fanfold_admin;

-- The same by the name of a job type that is saved, or that a worker has in code; text that is JSON is the blueprint itself.
--   select app.submit('process_raster', '{"source": "bronze:scene.tif"}');
create or replace function app.submit(
  job_type text, parameters jsonb default '{}', mode text default 'reuse', options jsonb default '{}', tenant text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_blueprint jsonb;
  v_parameters jsonb := parameters;
begin
  if job_type ~ '^\s*[\[{"]' then
    return app.submit(job_type::jsonb, parameters, mode, options, tenant);
  end if;
  v_blueprint := app.known_blueprint(app.acting_tenant(tenant), job_type);
  if jsonb_typeof(parameters) = 'object' and jsonb_typeof(v_blueprint -> 'parameters') = 'object' then
    select coalesce(jsonb_object_agg(p.key, p.value -> 'default') filter (where p.value ? 'default'), '{}') || parameters
      into v_parameters
      from jsonb_each(case jsonb_typeof(v_blueprint #> '{parameters,properties}') when 'object' then v_blueprint #> '{parameters,properties}' else '{}' end) p;
    perform app.refuse_problems('the submit', app.parameter_problems(v_blueprint -> 'parameters', v_parameters));
  end if;
  return app.submit_one(v_blueprint, v_parameters, mode, options, tenant);
end $$;
grant execute on function app.submit(text, jsonb, text, jsonb, text) to fanfold_api, fanfold_admin;
