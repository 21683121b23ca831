-- Locks the job of a stage being planned, and makes sure that nobody ended the stage while we waited.
create or replace function app.lock_planned_job(stage app.stages)
returns app.jobs
language plpgsql
as $$
declare
  v_job app.jobs;
begin
  select * into v_job
    from app.jobs j
   where j.tenant_id = stage.tenant_id and j.job_id = stage.job_id
     for update;
  if not exists (select from app.stages s where s.stage_id = stage.stage_id and s.status = 'planning') then
    raise exception 'stage "%" is no longer being planned', stage.name
      using errcode = 'FF006', hint = 'its job ended meanwhile; drop the plan';
  end if;
  return v_job;
end $$;
