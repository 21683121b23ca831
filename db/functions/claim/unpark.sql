-- What was put aside of these stages may be claimed again.
create or replace function app.unpark(stage_ids bigint[])
returns void
language plpgsql
as $$
begin
  perform 1 from app.ready r where r.stage_id = any (stage_ids) order by r.ready_id for update;
  update app.ready r set task_type = substr(r.task_type, 9) where r.stage_id = any (stage_ids) and r.task_type like '#paused:%';
end $$;
