-- Locks all there is of several jobs, for verbs that end or repair them together: their names, what waits and what is held of them, their
-- open ledgers, their rows, each ascending. What waited or was held is taken away. `ended`: only those that have ended, or only those that
-- have not; asked when their names are held, because one that another opened meanwhile keeps what waits of it. Returns these. Called by
-- transactions that hold no row yet.
create or replace function app.hold_jobs(tenant text, job_ids text[], ended boolean)
returns text[]
language plpgsql
as $$
declare
  v_stages bigint[];
begin
  perform app.lock_named(tenant || ' job ' || l.job_id)
     from (
       select j.job_id from app.jobs j where j.tenant_id = tenant and j.job_id = any (job_ids) order by j.job_id offset 0) l;
  job_ids := array(
    select j.job_id from app.jobs j
     where j.tenant_id = tenant and j.job_id = any (job_ids) and (j.finished_at is not null) = ended order by 1);
  v_stages := array(
    select s.stage_id from app.stages s where s.tenant_id = tenant and s.job_id = any (job_ids) order by 1);
  perform 1 from app.ready r where r.stage_id = any (v_stages) order by r.ready_id for update;
  delete from app.ready r where r.stage_id = any (v_stages);
  perform 1 from app.claims k where k.stage_id = any (v_stages) order by k.claim_id for update;
  delete from app.claims k where k.stage_id = any (v_stages);
  -- The holder of those may have put some back while we waited.
  delete from app.ready r where r.stage_id = any (v_stages);
  perform 1 from app.stage_progress p where p.stage_id = any (v_stages) and p.is_open order by p.stage_id for update;
  perform 1 from app.jobs j where j.tenant_id = tenant and j.job_id = any (job_ids) order by j.job_id for update;
  return job_ids;
end $$;
