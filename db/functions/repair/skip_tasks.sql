-- Skips tasks of one stage for a reason, as skip_task does one: those of `ranges` ([[from, to), …]) that wait, failed or never ran, or
-- only those of `statuses` (with `processing`, those that run too). All of them or none; the reply says what of the selection stays
-- as it is, and why.
create or replace function app.skip_tasks(
  job_id text, stage text, ranges json, reason text, statuses json default null, dry_run boolean default false,
  tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  c_most constant bigint := 200000;
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), skip_tasks.job_id);
  v_stage app.stages;
  v_asked text[] := app.asked_statuses(statuses, '{queued,failed,cancelled}', '{processing}');
  v_ordinals int8multirange := app.asked_ordinals(ranges);
  v_counts jsonb;
  v_left json;
  v_tasks bigint;
  v_queued int8multirange := '{}'::int8multirange;
  v_held int8multirange := '{}'::int8multirange;
  v_ended int8multirange := '{}'::int8multirange;
  v_error jsonb := jsonb_build_object('code', 'skipped', 'message', left(reason, 1000), 'by', coalesce(actor, session_user));
begin
  if coalesce(btrim(reason), '') = '' then
    raise exception 'tasks are skipped for a reason' using errcode = 'FF002', hint = 'say why: --reason "…"';
  end if;
  perform app.lock_job_for_verbs(v_job);
  v_stage := app.find_stage(v_job, skip_tasks.stage);
  if not exists (select from app.stage_progress p where p.stage_id = v_stage.stage_id) then
    raise exception 'stage "%" is %: it has no tasks yet', v_stage.name, v_stage.status using errcode = 'FF006';
  end if;
  v_counts := app.selection_counts(v_stage, v_ordinals);
  v_left := app.selection_left(v_counts, v_asked);
  v_tasks := (select sum((v_counts ->> a)::bigint) from unnest(v_asked) a);
  if v_tasks = 0 and v_counts ->> 'skipped' = '0' then
    perform app.refuse_selection('skipped', app.held_count(v_ordinals), v_left, 'only what waits, failed or never ran is');
  elsif v_tasks > c_most then
    raise exception '% tasks are too many to skip at once', v_tasks using errcode = 'FF002', hint = 'skip at most ' || c_most || ' at a time';
  end if;
  if v_tasks > 0 and dry_run is not true then
    if v_stage.status = 'processing' then
      v_queued := case when 'queued' = any (v_asked) then app.skip_queued(v_stage, v_ordinals, v_error) else '{}' end;
      v_held := case when 'processing' = any (v_asked) then app.skip_held(v_stage, v_ordinals - v_queued, v_error) else '{}' end;
    end if;
    v_ended := app.skip_many_ended(v_stage, v_ordinals - v_queued - v_held, v_asked, app.held_count(v_queued + v_held), v_error);
    if (v_queued + v_held) @> 0::bigint then
      perform app.mark_started(array[v_stage.stage_id]);
    end if;
    v_tasks := app.held_count(v_queued + v_held + v_ended);
    if v_tasks = 0 then
      raise exception 'the selected tasks of stage "%" moved on at this very moment', v_stage.name
        using errcode = 'FF006', hint = 'look again, and try again';
    end if;
    perform app.note(v_job.tenant_id, 'tasks.skipped', v_job.job_id, v_stage.stage_id, left(reason, 1000), jsonb_build_object(
      'stage', v_stage.name, 'ranges', left((v_queued + v_held + v_ended)::text, 4000), 'tasks', v_tasks), actor);
    perform app.close_if_done(v_stage);
  end if;
  return json_build_object('job_id', v_job.job_id, 'stage', v_stage.name, 'stage_id', v_stage.stage_id,
    'selected', app.held_count(v_ordinals), 'tasks', v_tasks,
    'touched', coalesce((select jsonb_object_agg(a, v_counts -> a) from unnest(v_asked) a where v_counts -> a <> '0'), '{}'),
    'left', v_left, 'dry_run', coalesce(dry_run, false), 'changed', dry_run is not true and v_tasks > 0);
end $$;
grant execute on function app.skip_tasks(text, text, json, text, json, boolean, text, text) to fanfold_api, fanfold_admin;
