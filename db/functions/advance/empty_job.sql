-- Takes everything of a job out of ready, then out of claims, waiting for transactions that are at work there: called by transactions that
-- hold no row yet. Returns the job's stages.
create or replace function app.empty_job(job app.jobs)
returns bigint[]
language plpgsql
as $$
declare
  v_stages bigint[] := array(
    select s.stage_id from app.stages s where s.tenant_id = job.tenant_id and s.job_id = job.job_id order by 1);
begin
  perform 1 from app.ready r where r.stage_id = any (v_stages) order by r.ready_id for update;
  delete from app.ready r where r.stage_id = any (v_stages);
  perform 1 from app.claims k where k.stage_id = any (v_stages) order by k.claim_id for update;
  delete from app.claims k where k.stage_id = any (v_stages);
  -- The holders of those may have put some back while we waited.
  delete from app.ready r where r.stage_id = any (v_stages);
  return v_stages;
end $$;
