-- Cancels a job: nothing of it is claimed any more, running handlers are told at their next heartbeat, late finishes are
-- refused. It empties ready, then claims, waiting for whoever is at work there while it holds nothing they could want; then
-- it closes the ledgers and the job. Operator verbs on one job wait for each other on an advisory lock.
create or replace function app.cancel_job(job_id text, reason text default null, tenant text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_job app.jobs;
  v_stages bigint[];
begin
  v_job := app.find_job(v_tenant, cancel_job.job_id);
  perform pg_advisory_xact_lock(hashtextextended(v_tenant || v_job.job_id, 3));
  v_stages := array(select s.stage_id from app.stages s where s.tenant_id = v_tenant and s.job_id = v_job.job_id order by 1);
  perform 1 from app.ready r where r.stage_id = any (v_stages) order by r.ready_id for update;
  delete from app.ready r where r.stage_id = any (v_stages);
  perform 1 from app.claims k where k.stage_id = any (v_stages) order by k.claim_id for update;
  delete from app.claims k where k.stage_id = any (v_stages);
  perform 1 from app.stage_progress p where p.stage_id = any (v_stages) order by p.stage_id for update;
  select * into v_job from app.jobs j where j.tenant_id = v_tenant and j.job_id = v_job.job_id for no key update;
  if v_job.status = 'cancelled' then
    return json_build_object('job_id', v_job.job_id, 'status', v_job.status, 'changed', false);
  elsif v_job.finished_at is not null then
    raise exception 'job % is %, which is final', left(v_job.job_id, 12), v_job.status using errcode = 'FF006';
  end if;
  update app.stage_progress set is_open = false where stage_id = any (v_stages);
  update app.stages set status = 'cancelled', closed_at = now() where stage_id = any (v_stages) and closed_at is null;
  update app.jobs j
     set status = 'cancelled', finished_at = now(),
         error = jsonb_build_object('code', 'cancelled', 'message', coalesce(left(reason, 1000), 'cancelled on request'))
   where j.tenant_id = v_tenant and j.job_id = v_job.job_id;
  -- What a finish or a stage opening put there between our steps. Locked rows are left: their holders find the stage closed.
  delete from app.ready where ready_id in (select r.ready_id from app.ready r where r.stage_id = any (v_stages) for update skip locked);
  delete from app.claims where claim_id in (select k.claim_id from app.claims k where k.stage_id = any (v_stages) for update skip locked);
  perform app.note(v_tenant, 'job.cancelled', v_job.job_id, null, left(reason, 1000));
  return json_build_object('job_id', v_job.job_id, 'status', 'cancelled', 'changed', true);
end $$;
grant execute on function app.cancel_job(text, text, text) to fanfold_api, fanfold_admin;
