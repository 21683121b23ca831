-- Ends a stage (outcome null: as its ledger says) and lets its successors wait for one less. The caller holds the job's row
-- and calls advance_job afterwards.
create or replace function app.close_stage(stage app.stages, outcome app.stage_status, why_skipped text)
returns void
language plpgsql
as $$
declare
  v_ledger app.stage_progress;
begin
  select * into v_ledger from app.stage_progress p where p.stage_id = stage.stage_id;
  if v_ledger.stage_id is null then
    -- Never planned to the end: what a planner had sent of it will not run.
    delete from app.tasks t where t.stage_id = stage.stage_id;
  elsif v_ledger.is_open then
    update app.stage_progress set is_open = false where stage_id = stage.stage_id;
  end if;
  if stage.replan then
    delete from app.task_drafts d where d.stage_id = stage.stage_id;
  end if;
  if outcome is null then
    outcome := case
      when v_ledger.stage_id is null or stage.status = 'planning' then 'failed'
      else app.stage_outcome(v_ledger.total, v_ledger.failed, stage.budget_count, stage.budget_percent)
    end;
  end if;
  if stage.repaired is not null and why_skipped is null then
    perform app.tell_successors(stage);
  end if;
  update app.stages
     set status = outcome,
         skip_reason = why_skipped,
         total = coalesce(v_ledger.total, total, 0),
         opened_at = coalesce(opened_at, now()),
         closed_at = now(),
         error = coalesce(error, case when outcome = 'failed' and (v_ledger.stage_id is null or stage.status = 'planning') then (
           select jsonb_build_object('category', a.category, 'code', a.code, 'message', a.message, 'while', 'planning')
             from app.attempts a
            where a.stage_id = stage.stage_id and a.ordinal = -1 and a.outcome in ('failed', 'lost')
            order by a.attempt_id desc
            limit 1) end),
         summary = case when v_ledger.stage_id is not null then jsonb_build_object(
           'completed', v_ledger.completed, 'failed', v_ledger.failed, 'skipped', v_ledger.skipped, 'cancelled', v_ledger.remaining) end
   where stage_id = stage.stage_id;
  update app.stages
     set waiting_for = waiting_for - 1
   where tenant_id = stage.tenant_id and job_id = stage.job_id and stage.number = any (after) and status = 'waiting';
  if outcome = 'failed' and stage.importance = 'critical' then
    update app.stages
       set status = 'cancelled', closed_at = now()
     where tenant_id = stage.tenant_id and job_id = stage.job_id and status in ('waiting', 'waiting_approval');
    -- Nobody is asked any more: the deadline of what still runs counts again.
    perform app.start_clock(j) from app.jobs j where j.tenant_id = stage.tenant_id and j.job_id = stage.job_id;
  end if;
  perform app.note(
    stage.tenant_id, 'stage.' || outcome, stage.job_id, stage.stage_id, why_skipped,
    jsonb_build_object('stage', stage.name, 'total', coalesce(v_ledger.total, 0), 'completed', coalesce(v_ledger.completed, 0),
      'failed', coalesce(v_ledger.failed, 0), 'skipped', coalesce(v_ledger.skipped, 0)));
end $$;
