-- A stage whose tasks follow those of the stage before gets tasks for what has been appended there. Returns the new total.
create or replace function app.grow_stage(stage app.stages, total bigint, previous app.stages)
returns bigint
language plpgsql
as $$
declare
  v_total bigint := total;
begin
  if stage.parallelism = 'match_previous' then
    v_total := greatest(total, previous.total);
    insert into app.tasks (stage_id, ordinal, tenant_id, index, metadata)
    select stage.stage_id, t.ordinal, stage.tenant_id, t.index, t.metadata
      from app.tasks t
     where t.stage_id = previous.stage_id and t.ordinal >= total and t.ordinal < v_total;
  elsif stage.parallelism = 'fan_in' and stage.batch is not null then
    v_total := greatest(total, (previous.total + stage.batch - 1) / stage.batch);
    insert into app.tasks (stage_id, ordinal, tenant_id)
    select stage.stage_id, o, stage.tenant_id from generate_series(total, v_total - 1) o;
  else
    -- A plan that was made again has put its new tasks there already.
    v_total := greatest(total, (select max(t.ordinal) + 1 from app.tasks t where t.stage_id = stage.stage_id));
  end if;
  return v_total;
end $$;
