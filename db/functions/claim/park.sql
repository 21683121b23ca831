-- Puts a ready row that stands in the way of claims aside: what a cancel left behind that found it locked is gone, and the row of a paused job
-- waits elsewhere. That is done under a share lock on the stage's row, tried and never waited for: a verb that continues the job either waits for
-- us and finds the row, or is at it, and the row stays where it is.
create or replace function app.park(queued app.ready)
returns void
language plpgsql
as $$
begin
  delete from app.ready r using app.stages s where r.ready_id = queued.ready_id and s.stage_id = queued.stage_id and s.closed_at is not null;
  if found then
    return;
  end if;
  perform 1 from app.stages s where s.stage_id = queued.stage_id and s.paused for share skip locked;
  if found then
    update app.ready set task_type = '#paused:' || task_type where ready_id = queued.ready_id;
  end if;
end $$;
