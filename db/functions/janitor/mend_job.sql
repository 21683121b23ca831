-- Repairs one open job whose state cannot happen, and says so. It looks again once it holds the locks: what was only on its way
-- is left alone. `held` in the reply: the tenant whose locks it would not wait for any longer.
create or replace function app.mend_job(run uuid, tenant text, job text)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_job app.jobs;
  v_stage app.stages;
  v_found record;
  v_mended bigint := 0;
  v_alerts jsonb := '[]'::jsonb;
begin
  if tenant is distinct from coalesce(app.worker_tenant(), tenant) then
    raise exception 'this role acts for its own tenant and no other' using errcode = 'FF005';
  end if;
  perform app.wait_briefly();
  select * into v_job from app.jobs j where j.tenant_id = tenant and j.job_id = job;
  if not found then
    return json_build_object('mended', 0, 'alerts', '[]'::json, 'held', null);
  end if;
  perform app.lock_job_for_verbs(v_job);
  perform 1
     from app.stage_progress p
    where p.stage_id = any (array(select s.stage_id from app.stages s where s.tenant_id = tenant and s.job_id = job and s.closed_at is null))
      and p.is_open
    order by p.stage_id for update;
  select * into v_job from app.jobs j where j.tenant_id = tenant and j.job_id = job for update;
  if v_job.finished_at is null then
    for v_round in 1 .. 20 loop
      v_found := app.job_trouble(tenant, job);
      exit when v_found.trouble is null;
      select * into v_stage from app.stages s where s.stage_id = v_found.stage_id;
      perform app.mend_stage(v_stage, v_job);
      perform app.advance_jobs(array[v_job.tenant_id], array[v_job.job_id]);
      v_mended := v_mended + 1;
      perform app.janitor_note(run, tenant, 'mended', coalesce('stage ' || v_stage.name, 'job ' || job), v_found.trouble, job, v_found.stage_id);
      v_alerts := v_alerts || app.alert(tenant, 'impossible_state', coalesce('stage ' || v_found.stage_id, 'job ' || job),
        'job ' || left(job, 12) || coalesce(', stage "' || v_stage.name || '"', '') || ': ' || v_found.trouble || '; repaired', job, v_found.stage_id);
      select * into v_job from app.jobs j where j.tenant_id = tenant and j.job_id = job;
      exit when v_job.finished_at is not null;
    end loop;
  end if;
  set constraints app.groups_are_settled_at_commit immediate;
  return json_build_object('mended', v_mended, 'alerts', app.visible_alerts(v_alerts), 'held', null);
exception
  when lock_not_available then
    return json_build_object('mended', 0, 'alerts', '[]'::json, 'held', tenant);
  when others then
    if left(sqlstate, 2) in ('40', '53', '57', '58', 'FF') then
      raise;
    end if;
    return json_build_object('mended', 0, 'alerts', app.alert(tenant, 'mend_failed', 'job ' || job, sqlerrm, job), 'held', null);
end $$;
grant execute on function app.mend_job(uuid, text, text) to fanfold_worker, fanfold_admin;
