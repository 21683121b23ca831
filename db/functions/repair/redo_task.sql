-- Runs one completed task again, because what it delivered may be gone: a lone one at once; one of an ended job in a new epoch, with what
-- follows it. Its story stays in its attempts.
create or replace function app.redo_task(
  task_id text, reason text default null, dry_run boolean default false, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_found record := app.find_task(v_tenant, task_id);
  v_stage app.stages := v_found.stage;
  v_status text;
begin
  -- However it was named.
  task_id := (v_found.stage).stage_id || '-' || v_found.ordinal;
  select r.status::text into v_status from app.results r where r.stage_id = v_stage.stage_id and r.ordinal = v_found.ordinal;
  if v_status is null and v_stage.closed_at is null then
    raise exception 'task "%" is queued or running, not completed', task_id
      using errcode = 'FF006', hint = 'wait until it has completed';
  end if;
  if v_status is distinct from 'completed' then
    raise exception 'task "%" is %, not completed', task_id, coalesce(v_status, 'cancelled')
      using errcode = 'FF006', hint = 'redo is for what completed: retry this one';
  end if;
  if v_stage.job_id is not null then
    return app.repair_job(app.find_job(v_tenant, v_stage.job_id), 'task', task_id, coalesce(dry_run, false), reason, actor);
  end if;
  -- Another caller may have queued it meanwhile.
  perform from app.results r
    where r.stage_id = v_stage.stage_id and r.ordinal = v_found.ordinal and r.status = 'completed' for update;
  if not found then
    raise exception 'task "%" was queued again just now', task_id using errcode = 'FF003', hint = 'wait until it has completed';
  end if;
  return app.run_lone_again(v_stage, v_found.ordinal, v_status, reason, coalesce(dry_run, false), actor);
end $$;
grant execute on function app.redo_task(text, text, boolean, text, text) to fanfold_api, fanfold_admin;
