-- Where the tasks of a stage that opens stand in their tenant's order. Few tasks that go on with a job go first, so that a small job of
-- several stages ends soon; a job that has other stages open (`beside`) has had that advantage, and takes its turn.
create or replace function app.opening_turn(job_id text, stage_id bigint, tasks bigint, beside boolean, goes_on boolean)
returns bigint
language sql stable
as $$
  select case
    when job_id is null or tasks > 100 or beside then app.ring_turn(job_id, stage_id)
    when goes_on then 0
    else app.place_of(now())
  end
$$;

-- The same for one stage, which looks for the others itself.
create or replace function app.opening_turn(stage app.stages, tasks bigint)
returns bigint
language plpgsql stable
as $$
begin
  return app.opening_turn(stage.job_id, stage.stage_id, tasks, exists (
    select from app.stages o
     where o.tenant_id = stage.tenant_id and o.job_id = stage.job_id and o.number < stage.number and o.status in ('planning', 'processing')),
    stage.after <> '{}' and stage.epoch = 1);
end $$;
