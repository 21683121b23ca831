-- How many tasks a data plan will make, as far as that is cheap to know; beyond reach is 'many'.
create or replace function app.plan_size(stage app.stages, job app.jobs, previous app.stages)
returns bigint
language plpgsql
as $$
declare
  c_many constant bigint := 9223372036854775807;
begin
  case stage.parallelism
    when 'fan_in' then
      return case when stage.batch is null then 1 else (coalesce(previous.total, 0) + stage.batch - 1) / stage.batch end;
    when 'match_previous' then
      return coalesce(previous.total, 0);
    when 'fan_out' then
      if stage.plan ? 'each' then
        if coalesce(previous.total, 0) > 1000
          or exists (select from app.results r where r.stage_id = previous.stage_id and r.spill is not null) then
          return c_many;
        end if;
        return (
          select count(*)
            from app.results r, jsonb_path_query(r.result, (stage.plan ->> 'each')::jsonpath)
           where r.stage_id = previous.stage_id and r.status = 'completed');
      end if;
    else null;
  end case;
  if stage.plan ? 'each' then
    return (select count(*) from jsonb_path_query(job.parameters, (stage.plan ->> 'each')::jsonpath));
  end if;
  if stage.plan ? 'count' then
    return app.plan_count(stage, job);
  end if;
  return 1;
end $$;
