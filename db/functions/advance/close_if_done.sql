-- The last one out closes the stage, after tasks of it were skipped in this transaction, which has moved its ledger.
create or replace function app.close_if_done(stage app.stages)
returns void
language plpgsql
as $$
declare
  v_job app.jobs;
begin
  if stage.status <> 'processing' or not exists (
    select from app.stage_progress p where p.stage_id = stage.stage_id and p.remaining = 0 and not p.is_open) then
    return;
  end if;
  select * into v_job from app.jobs j where j.tenant_id = stage.tenant_id and j.job_id = stage.job_id for update;
  select * into stage from app.stages s where s.stage_id = stage.stage_id;
  perform app.close_stages(array[stage.stage_id]);
  perform app.advance_jobs(array[v_job.tenant_id], array[v_job.job_id]);
end $$;
