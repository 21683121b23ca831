-- Where the tasks of a stage that opens stand in their tenant's order. Few tasks of a job that has begun go first, so that a small job of
-- several stages ends soon; a job that has other stages open (`beside`) has had that advantage, and takes its turn.
create or replace function app.opening_turn(stage app.stages, tasks bigint, beside boolean)
returns bigint
language sql stable
as $$
  select case
    when stage.job_id is null or tasks > 100 or beside then app.ring_turn(stage.job_id, stage.stage_id)
    when stage.after <> '{}' and stage.epoch = 1 then 0
    else app.place_of(now())
  end
$$;

-- The same for one stage, which looks for the others itself.
create or replace function app.opening_turn(stage app.stages, tasks bigint)
returns bigint
language plpgsql stable
as $$
begin
  return app.opening_turn(stage, tasks, exists (
    select from app.stages o
     where o.tenant_id = stage.tenant_id and o.job_id = stage.job_id and o.number < stage.number and o.status in ('planning', 'processing')));
end $$;
