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
