-- The `count` of a data plan, which may be a template over the job's parameters.
create or replace function app.plan_count(stage app.stages, job app.jobs)
returns bigint
language plpgsql
as $$
declare
  v_count jsonb := app.fill_template(stage.plan -> 'count', null, null, job.parameters);
begin
  if jsonb_typeof(v_count) is distinct from 'number' or (v_count #>> '{}')::numeric not between 0 and 10000000
    or (v_count #>> '{}')::numeric <> trunc((v_count #>> '{}')::numeric) then
    raise exception 'the count of stage "%" is %, not a whole number from 0 to 10,000,000', stage.name, left(v_count::text, 40)
      using errcode = 'FF002';
  end if;
  return (v_count #>> '{}')::numeric::bigint;
end $$;
