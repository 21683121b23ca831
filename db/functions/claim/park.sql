-- Puts a ready row of a paused job aside, out of the way of claims. Under a share lock on the stage's row, tried and never waited
-- for: whoever continues the job either waits for us and finds the row, or is at it, and the row stays where it is.
create or replace function app.park(queued app.ready)
returns void
language plpgsql
as $$
begin
  perform 1 from app.stages s where s.stage_id = queued.stage_id and s.paused for share skip locked;
  if found then
    update app.ready set task_type = '#paused:' || task_type where ready_id = queued.ready_id;
  end if;
end $$;
