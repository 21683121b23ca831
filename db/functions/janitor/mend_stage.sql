-- Puts one stage right from what the rows say: its ledger is counted anew, tasks that are nowhere become ready, a planning nobody
-- holds is asked for again. The caller holds the open ledgers and the job's row.
create or replace function app.mend_stage(stage app.stages, job app.jobs)
returns void
language plpgsql
as $$
declare
  v_total bigint;
  v_lost int8multirange;
  v_ledger app.stage_progress;
begin
  if stage.status = 'waiting' then
    update app.stages s
       set waiting_for = (
         select count(*) from app.stages b
          where b.tenant_id = s.tenant_id and b.job_id = s.job_id and b.number = any (s.after) and b.closed_at is null)
     where s.stage_id = stage.stage_id;
  elsif stage.status = 'planning' then
    perform app.ask_for_plan(stage, case when stage.plan ? 'function' or stage.condition ? 'function' then '#plan:' || job.job_type else '#plan' end);
  elsif stage.status = 'processing' then
    select coalesce(max(t.ordinal) + 1, 0) into v_total from app.tasks t where t.stage_id = stage.stage_id;
    v_lost := app.absent_ordinals(stage.stage_id, v_total)
      - coalesce((select range_agg(int8range(r.lo, r.hi)) from app.ready r where r.stage_id = stage.stage_id), '{}')
      - coalesce((select range_agg(h) from app.claims k, unnest(k.held) h where k.stage_id = stage.stage_id), '{}');
    insert into app.stage_progress (stage_id, tenant_id, total, completed, failed, skipped, remaining, is_open)
    select stage.stage_id, stage.tenant_id, v_total, c.completed, c.failed, c.skipped, v_total - c.completed - c.failed - c.skipped,
      v_total > c.completed + c.failed + c.skipped
      from (
        select count(*) filter (where r.status = 'completed') as completed, count(*) filter (where r.status = 'failed') as failed,
          count(*) filter (where r.status = 'skipped') as skipped
          from app.results r where r.stage_id = stage.stage_id) c
    on conflict (stage_id) do update
       set total = excluded.total, completed = excluded.completed, failed = excluded.failed, skipped = excluded.skipped,
           remaining = excluded.remaining, is_open = excluded.is_open
    returning * into v_ledger;
    update app.stages s set total = v_total where s.stage_id = stage.stage_id returning * into stage;
    insert into app.ready (stage_id, lo, hi, tenant_id, task_type, priority, task_bytes, turn)
    select stage.stage_id, lower(r), upper(r), stage.tenant_id, stage.task_type, stage.priority, 0, app.turn_of_stage(stage, v_total) from unnest(v_lost) r;
    if v_ledger.remaining = 0 then
      perform app.close_stages(array[stage.stage_id]);
    else
      perform app.wake(array[stage.task_type]);
    end if;
  end if;
end $$;
