-- Opens a stage that ran before, for repair: what is to run again leaves `results` for `ready` and keeps its story in
-- `attempts`; everything else stays as it is. A stage with nothing to run again closes at once, as its ledger says. The caller
-- holds the job's row; this stage's ledger is closed, and closed ledgers are changed under that row only.
create or replace function app.reopen_stage(stage app.stages, job app.jobs)
returns void
language plpgsql
as $$
declare
  v_ledger app.stage_progress;
  v_previous app.stages;
  v_total bigint;
  v_run int8multirange := stage.again;
  v_unrunnable int8multirange := '{}'::int8multirange;
  v_gone record;
  v_bytes integer;
begin
  select * into v_ledger from app.stage_progress p where p.stage_id = stage.stage_id for update;
  select * into v_previous
    from app.stages p
   where p.tenant_id = stage.tenant_id and p.job_id = stage.job_id and p.number = stage.of_number;
  v_total := app.grow_stage(stage, v_ledger.total, v_previous);
  v_run := v_run + int8multirange(int8range(v_ledger.total, v_total));
  if v_ledger.remaining > 0 then
    v_run := v_run + app.absent_ordinals(stage.stage_id, v_ledger.total);
  end if;
  v_run := v_run * int8multirange(int8range(0, v_total));
  if stage.parallelism = 'match_previous' then
    v_unrunnable := v_run - app.completed_ordinals(v_previous.stage_id, v_run);
    v_run := v_run - v_unrunnable;
  end if;
  v_gone := app.put_results_back(stage, v_run + v_unrunnable);
  if not isempty(v_unrunnable) then
    perform app.skip_without_predecessor(stage, v_previous, v_unrunnable);
  end if;
  if stage.parallelism = 'match_previous' then
    -- What the predecessor hands over may have changed with its result.
    update app.tasks t
       set parameters = r.next_stage_params
      from unnest(v_run) w
      join app.results r on r.stage_id = v_previous.stage_id and r.ordinal >= lower(w) and r.ordinal < upper(w)
     where t.stage_id = stage.stage_id and t.ordinal = r.ordinal and t.parameters is distinct from r.next_stage_params;
  end if;
  update app.stage_progress p
     set total = v_total,
         completed = p.completed - v_gone.completed,
         failed = p.failed - v_gone.failed,
         skipped = p.skipped - v_gone.skipped + app.held_count(v_unrunnable),
         remaining = app.held_count(v_run),
         is_open = not isempty(v_run)
   where p.stage_id = stage.stage_id
  returning * into v_ledger;
  update app.stages s
     set status = 'processing', total = v_total, epoch = job.epoch, again = '{}', replan = false, opened_at = now(),
         superseded = coalesce(s.superseded, '{}') + v_gone.superseded,
         repaired = coalesce(s.repaired, '{}') + (v_run + v_unrunnable - v_gone.superseded)
   where s.stage_id = stage.stage_id
  returning * into stage;
  perform app.note(stage.tenant_id, 'stage.reopened', stage.job_id, stage.stage_id, null, jsonb_build_object(
    'stage', stage.name, 'epoch', job.epoch, 'again', app.held_count(v_run), 'kept', v_ledger.completed, 'skipped', v_ledger.skipped,
    'superseded', app.held_count(v_gone.superseded)));
  if isempty(v_run) then
    perform app.close_stages(array[stage.stage_id]);
    return;
  end if;
  v_bytes := app.largest_parameters(stage);
  insert into app.ready (stage_id, lo, hi, tenant_id, task_type, priority, task_bytes, turn)
  select stage.stage_id, lower(r), upper(r), stage.tenant_id, stage.task_type, stage.priority, v_bytes, app.turn_of_stage(stage, v_ledger.remaining)
    from unnest(v_run) r;
  perform app.wake(array[stage.task_type]);
end $$;
