-- Ends a job from outside: nothing of it is claimed any more, running handlers are told at their next heartbeat, late finishes
-- are refused. It empties ready, then claims, waiting for whoever is at work there while it holds nothing they could want; then
-- it closes the ledgers and the job. Whoever ends a job waits for others who would on an advisory lock. Returns the job as it
-- was found, ended or not.
create or replace function app.end_job(job app.jobs, outcome app.job_status, error jsonb)
returns app.jobs
language plpgsql
as $$
declare
  v_job app.jobs;
  v_stages bigint[];
begin
  perform pg_advisory_xact_lock(hashtextextended(job.tenant_id || job.job_id, 3));
  v_stages := array(select s.stage_id from app.stages s where s.tenant_id = job.tenant_id and s.job_id = job.job_id order by 1);
  perform 1 from app.ready r where r.stage_id = any (v_stages) order by r.ready_id for update;
  delete from app.ready r where r.stage_id = any (v_stages);
  perform 1 from app.claims k where k.stage_id = any (v_stages) order by k.claim_id for update;
  delete from app.claims k where k.stage_id = any (v_stages);
  perform 1 from app.stage_progress p where p.stage_id = any (v_stages) order by p.stage_id for update;
  select * into v_job from app.jobs j where j.tenant_id = job.tenant_id and j.job_id = job.job_id for no key update;
  if v_job.finished_at is not null then
    return v_job;
  end if;
  update app.stage_progress set is_open = false where stage_id = any (v_stages);
  update app.stages set status = 'cancelled', closed_at = now() where stage_id = any (v_stages) and closed_at is null;
  update app.jobs j
     set status = outcome, finished_at = now(), error = end_job.error
   where j.tenant_id = v_job.tenant_id and j.job_id = v_job.job_id;
  -- What a finish or a stage opening put there between our steps. Locked rows are left: their holders find the stage closed.
  delete from app.ready where ready_id in (select r.ready_id from app.ready r where r.stage_id = any (v_stages) for update skip locked);
  delete from app.claims where claim_id in (select k.claim_id from app.claims k where k.stage_id = any (v_stages) for update skip locked);
  perform app.note(v_job.tenant_id, 'job.' || outcome, v_job.job_id, null, error ->> 'message');
  return v_job;
end $$;
