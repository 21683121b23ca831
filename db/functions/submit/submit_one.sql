-- One job of a blueprint, its parameters as jsonb: what psql has.
create or replace function app.submit_one(blueprint jsonb, parameters jsonb, mode text, options jsonb, tenant text)
returns json
language plpgsql
as $$
declare
  v_identity text;
begin
  if not app.is_server() then
    perform app.refuse_wild_numbers(options);
  end if;
  if jsonb_typeof(parameters) is distinct from 'object' then
    raise exception 'parameters must be a JSON object, not %', coalesce(jsonb_typeof(parameters), 'null') using errcode = 'FF002';
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
