-- Runs tasks of one stage of an ended job again, and what follows them: those of `ranges` ([[from, to), …]) that failed, were skipped
-- or never ran, or only those of `statuses`. All of them or none; the reply says what of the selection stays as it is, and why.
create or replace function app.retry_tasks(
  job_id text, stage text, ranges json, statuses json default null, reason text default null, dry_run boolean default false,
  tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), retry_tasks.job_id);
  v_stage app.stages := app.find_stage(v_job, retry_tasks.stage);
  v_asked text[] := app.asked_statuses(statuses, '{failed,skipped,cancelled}', '{}');
  v_ordinals int8multirange := app.asked_ordinals(ranges);
  v_counts jsonb;
  v_left json;
  v_reply json;
begin
  -- Before anything is counted: what is counted is what is done.
  perform app.lock_job_for_verbs(v_job);
  v_counts := app.selection_counts(v_stage, v_ordinals);
  v_left := app.selection_left(v_counts, v_asked);
  if (select sum((v_counts ->> a)::bigint) from unnest(v_asked) a) = 0
      and exists (select from app.jobs j where j.tenant_id = v_job.tenant_id and j.job_id = v_job.job_id and j.finished_at is not null) then
    perform app.refuse_selection('run again', app.held_count(v_ordinals), v_left,
      'only what failed, was skipped or never ran is; a whole stage can run again', app.action('retry_stage', job_id => v_job.job_id, stage => v_stage.name));
  end if;
  v_reply := app.repair_job(v_job, 'tasks', v_stage.stage_id || ' ' || array_to_string(v_asked, ',') || ' ' || v_ordinals,
    coalesce(dry_run, false), reason, actor);
  return (v_reply::jsonb || jsonb_build_object('stage', v_stage.name, 'stage_id', v_stage.stage_id, 'selected', app.held_count(v_ordinals),
    'touched', (select jsonb_object_agg(a, v_counts -> a) from unnest(v_asked) a where v_counts -> a <> '0'), 'left', v_left))::json;
end $$;
grant execute on function app.retry_tasks(text, text, json, json, text, boolean, text, text) to fanfold_api, fanfold_admin;
