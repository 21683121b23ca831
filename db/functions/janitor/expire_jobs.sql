-- Fails one job that is past its deadline. One job a call: ending a job takes locks in an order that holds for one job at a time.
-- `after` is the `next` of the call before, so that a job which cannot be ended is passed over; null: none is left. `held` in the reply
-- is the tenant for whose locks it would not wait any longer: the caller leaves it alone for a while, and names it in `skip`.
create or replace function app.expire_jobs(run uuid default null, after json default null, skip json default '[]')
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_own text := app.worker_tenant();
  v_skip text[] := array(select json_array_elements_text(skip));
  v_job app.jobs;
  v_alerts jsonb := '[]'::jsonb;
  v_expired integer := 0;
  v_held text;
begin
  perform app.wait_briefly();
  select * into v_job
    from app.jobs j
   where coalesce(j.deadline_at, 'infinity') < now() and j.finished_at is null and (v_own is null or j.tenant_id = v_own)
     and j.tenant_id <> all (v_skip)
     and (after is null or (coalesce(j.deadline_at, 'infinity'), j.job_id) > ((after ->> 0)::timestamptz, after ->> 1))
   order by coalesce(j.deadline_at, 'infinity'), j.job_id
   limit 1;
  if not found then
    return json_build_object('expired', 0, 'next', null, 'alerts', '[]'::json);
  end if;
  begin
    perform app.lock_job_for_verbs(v_job);
    if not exists (
      select from app.jobs j
       where j.tenant_id = v_job.tenant_id and j.job_id = v_job.job_id and j.deadline_at < now() and j.finished_at is null) then
      -- Paused, resumed or ended while we waited.
      return json_build_object('expired', 0, 'next', json_build_array(v_job.deadline_at, v_job.job_id), 'alerts', '[]'::json);
    end if;
    -- It may have ended by itself while we waited for it.
    if (app.end_job(v_job, 'failed', jsonb_build_object(
      'code', 'deadline', 'message', 'it had not ended by its deadline, ' || to_char(v_job.deadline_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"')))).finished_at is null then
      v_expired := 1;
      perform app.janitor_note(run, v_job.tenant_id, 'expired', 'job ' || v_job.job_id, 'past its deadline', v_job.job_id);
      v_alerts := app.alert(v_job.tenant_id, 'deadline', 'job ' || v_job.job_id, 'job ' || left(v_job.job_id, 12) || ' (' || v_job.job_type
        || ') had not ended by its deadline', v_job.job_id);
    end if;
    set constraints app.groups_are_settled_at_commit immediate;
  exception
    when lock_not_available then
      v_expired := 0;
      v_alerts := '[]'::jsonb;
      v_held := v_job.tenant_id;
    when others then
      v_expired := 0;
      if left(sqlstate, 2) in ('40', '53', '57', '58') then
        raise;
      end if;
      v_alerts := app.alert(v_job.tenant_id, 'expire_failed', 'job ' || v_job.job_id, sqlerrm, v_job.job_id);
  end;
  return json_build_object('expired', v_expired, 'next', json_build_array(v_job.deadline_at, v_job.job_id), 'alerts', app.visible_alerts(v_alerts),
    'held', v_held);
end $$;
grant execute on function app.expire_jobs(uuid, json, json) to fanfold_worker, fanfold_admin;
