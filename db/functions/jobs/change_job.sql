-- Changes what was said at submit of a job that has not ended: its priority, how many attempts its tasks have, and, while it waits for its time,
-- when it starts. What is in hand goes on as it is, and what it leaves to be tried again goes by the new numbers.
create or replace function app.change_job(
  job_id text, priority integer default null, attempts integer default null, run_at timestamptz default null, reason text default null,
  dry_run boolean default false, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), change_job.job_id);
  v_stages bigint[];
  v_queued bigint;
  v_changed boolean;
begin
  if priority is null and attempts is null and run_at is null then
    raise exception 'nothing is to be changed' using errcode = 'FF002', hint = 'give priority, attempts or run_at';
  end if;
  if priority not between -32768 and 32767 or attempts not between 1 and 10000 or not isfinite(run_at) then
    raise exception 'a priority is from -32768 to 32767, attempts are from 1 to 10000, and run_at is a time' using errcode = 'FF002';
  end if;
  perform app.lock_job_for_verbs(v_job);
  select * into v_job from app.jobs j where j.tenant_id = v_job.tenant_id and j.job_id = v_job.job_id for update;
  if v_job.finished_at is not null then
    raise exception 'job % is %, which is final', left(v_job.job_id, 12), v_job.status
      using errcode = 'FF006', hint = app.job_hint(v_job.status), detail = coalesce(app.job_action(v_job.status, v_job.job_id)::text, '');
  end if;
  if run_at is not null and v_job.starts_at is null then
    raise exception 'job % does not wait for a time', left(v_job.job_id, 12)
      using errcode = 'FF006', hint = 'pause it, to let it stand still', detail = app.action('pause', job_id => v_job.job_id);
  end if;
  v_stages := array(select s.stage_id from app.stages s where s.tenant_id = v_job.tenant_id and s.job_id = v_job.job_id and s.closed_at is null);
  select coalesce(sum(r.hi - r.lo), 0) into v_queued from app.ready r where r.stage_id = any (v_stages) and r.lo >= 0;
  v_changed := coalesce(priority <> v_job.priority, false) or coalesce(run_at <> v_job.starts_at, false) or attempts is not null and exists (
    select from app.stages s where s.stage_id = any (v_stages) and s.max_attempts is distinct from attempts);
  if v_changed and dry_run is not true then
    update app.jobs j
       set priority = coalesce(change_job.priority, j.priority),
           run_at = coalesce(change_job.run_at, j.run_at), starts_at = coalesce(change_job.run_at, j.starts_at),
           retry = case when attempts is null then j.retry else coalesce(j.retry, '{}') || jsonb_build_object('attempts', attempts) end
     where j.tenant_id = v_job.tenant_id and j.job_id = v_job.job_id;
    -- As in continue_job: it may wait for ready rows although it holds the job's.
    update app.stages s
       set priority = coalesce(change_job.priority, s.priority), max_attempts = coalesce(attempts, s.max_attempts)
     where s.stage_id = any (v_stages);
    if priority <> v_job.priority then
      update app.ready r set priority = change_job.priority where r.stage_id = any (v_stages);
    end if;
    perform app.note(v_job.tenant_id, 'job.changed', v_job.job_id, null, reason, jsonb_strip_nulls(jsonb_build_object(
      'priority', priority, 'attempts', attempts, 'run_at', run_at, 'before', jsonb_build_object('priority', v_job.priority, 'run_at', v_job.run_at))), actor);
  end if;
  return json_build_object('job_id', v_job.job_id, 'status', v_job.status, 'priority', coalesce(priority, v_job.priority),
    'run_at', coalesce(run_at, v_job.run_at), 'queued', v_queued, 'dry_run', coalesce(dry_run, false), 'changed', v_changed and dry_run is not true);
end $$;
grant execute on function app.change_job(text, integer, integer, timestamptz, text, boolean, text, text) to fanfold_api, fanfold_admin;
