-- How many tasks a data plan will make, as far as that is cheap to know; beyond reach is 'many'. `most`: bytes that may be looked at
-- for it, once for each step of the path.
create or replace function app.plan_size(stage app.stages, job app.jobs, previous app.stages, most bigint default null)
returns bigint
language plpgsql
as $$
declare
  c_many constant bigint := 9223372036854775807;
  -- Every step has two characters at least.
  v_bytes constant bigint := 2 * most / length(stage.plan ->> 'each');
  v_path jsonpath;
begin
  if stage.plan ? 'each' then
    v_path := app.checked_path(stage.plan ->> 'each', false);
  end if;
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
        -- As they are stored first: to unpack them is work, too.
        if (select sum(pg_column_size(r.result)) from app.results r where r.stage_id = previous.stage_id) > least(v_bytes, 1000000)
          or (select sum(pg_column_size(jsonb_build_array(r.result))) from app.results r where r.stage_id = previous.stage_id) > v_bytes then
          return c_many;
        end if;
        return (
          select count(*)
            from app.results r, jsonb_path_query(r.result, v_path)
           where r.stage_id = previous.stage_id and r.status = 'completed');
      end if;
    else null;
  end case;
  if stage.plan ? 'each' then
    if pg_column_size(jsonb_build_array(job.parameters)) > v_bytes then
      return c_many;
    end if;
    return (select count(*) from jsonb_path_query(job.parameters, v_path));
  end if;
  if stage.plan ? 'count' then
    return app.plan_count(stage, job);
  end if;
  return 1;
end $$;
