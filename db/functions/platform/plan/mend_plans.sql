-- Jobs of requests whose planning ended without an answer (its worker died too often, it took too long, it was cancelled) fail, and say so.
create or replace function platform.mend_plans()
returns integer
language plpgsql security definer
set search_path = pg_catalog, platform, app, pg_temp
as $$
declare
  v_job platform.request_jobs;
  v_error jsonb;
  v_mended integer := 0;
begin
  for v_job in
    select j.* from platform.request_jobs j where j.phase = 'planning' and j.opened_at < now() - interval '30 seconds' order by j.plan_ordinal limit 1000
  loop
    select coalesce(r.error, jsonb_build_object('message', 'its planning was ' || r.status)) into v_error
      from app.stages s
      join platform.requests q on q.tenant_id = v_job.tenant_id and q.request_id = v_job.request_id
      join app.results r on r.stage_id = s.stage_id and r.ordinal = v_job.plan_ordinal
     where s.tenant_id = v_job.tenant_id and s.job_id is null and s.task_type = 'platform.plan.' || q.data_type;
    continue when not found;
    begin
      perform app.wait_briefly();
      perform 1 from platform.requests r
       where r.tenant_id = v_job.tenant_id and r.request_id = v_job.request_id for no key update;
      if exists (
        select from platform.request_jobs j
         where j.tenant_id = v_job.tenant_id and j.request_id = v_job.request_id and j.number = v_job.number and j.phase = 'planning'
           and j.plan_ordinal = v_job.plan_ordinal) then
        perform platform.close_job(v_job, 'failed', null, v_error);
        perform platform.advance(v_job.tenant_id, v_job.request_id);
        v_mended := v_mended + 1;
      end if;
    exception
      -- Its tenant holds it; the next round finds it again.
      when lock_not_available then null;
    end;
  end loop;
  return v_mended;
end $$;
grant execute on function platform.mend_plans() to fanfold_worker, fanfold_admin;
