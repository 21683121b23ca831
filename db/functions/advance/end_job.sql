-- Ends a job from outside: nothing of it is claimed any more, running handlers are told at their next heartbeat, late finishes
-- are refused. It empties ready, then claims, waiting for transactions that are at work there while it holds nothing they could want; then
-- it closes the ledgers and the job. A verb that ends or repairs a job waits for others that would before anything else. Returns the
-- job as it was found, ended or not.
create or replace function app.end_job(job app.jobs, outcome app.job_status, error jsonb, actor text default null)
returns app.jobs
language plpgsql
as $$
declare
  v_job app.jobs;
  v_stages bigint[];
begin
  perform app.lock_job_for_verbs(job);
  perform app.lock_waiting_job(job);
  v_stages := app.empty_job(job);
  -- Open ledgers only: a closed one may be reopened by the holder of the job's row, which must not wait for us who wait for it.
  perform 1 from app.stage_progress p where p.stage_id = any (v_stages) and p.is_open order by p.stage_id for update;
  select * into v_job from app.jobs j where j.tenant_id = job.tenant_id and j.job_id = job.job_id for update;
  if v_job.finished_at is not null then
    return v_job;
  end if;
  update app.stage_progress set is_open = false where stage_id = any (v_stages) and is_open;
  update app.stages set status = 'cancelled', closed_at = now() where stage_id = any (v_stages) and closed_at is null;
  update app.jobs j
     set status = outcome, finished_at = now(), error = end_job.error, paused_at = null, paused_by = null, pause_reason = null
   where j.tenant_id = v_job.tenant_id and j.job_id = v_job.job_id;
  -- What a finish or a stage opening put there between our steps.
  perform app.empty_closed(v_stages);
  perform app.note(v_job.tenant_id, 'job.' || outcome, v_job.job_id, null, error ->> 'message', null, actor);
  perform app.jobs_ended(array[v_job.tenant_id], array[v_job.job_id]);
  return v_job;
end $$;
