-- A task that is in neither ready nor claims is skipped: a failed one, or one of a closed stage that never ran. The ledger of an
-- open stage moves under its own lock; anything else of a job changes under the job's row, as repair does.
create or replace function app.skip_ended(stage app.stages, task bigint, error jsonb)
returns void
language plpgsql
as $$
declare
  v_is_open boolean := stage.job_id is null or stage.status = 'processing';
  v_had boolean;
  v_gone record;
begin
  if stage.job_id is not null then
    if v_is_open then
      perform 1 from app.stage_progress p where p.stage_id = stage.stage_id for update;
    else
      perform app.lock_jobs_of(array[stage.stage_id]);
    end if;
  end if;
  v_had := exists (select from app.results r where r.stage_id = stage.stage_id and r.ordinal = task and r.status <> 'completed');
  if (select s.status from app.stages s where s.stage_id = stage.stage_id) <> stage.status or (v_is_open and not v_had) then
    raise exception 'task "%-%" moved at this very moment', stage.stage_id, task
      using errcode = 'FF006', hint = 'look again', detail = app.action('tasks.get', task_id => stage.stage_id || '-' || task);
  end if;
  v_gone := app.put_results_back(stage, int8multirange(int8range(task, task + 1)));
  insert into app.results (stage_id, ordinal, tenant_id, status, error) values (stage.stage_id, task, stage.tenant_id, 'skipped', error);
  update app.stage_progress p
     set failed = p.failed - v_gone.failed, skipped = p.skipped - v_gone.skipped + 1,
         remaining = p.remaining - (1 - v_gone.failed - v_gone.skipped)
   where p.stage_id = stage.stage_id;
  if not v_is_open then
    -- A repair that waits for its turn does not run it again.
    update app.stages s set again = s.again - int8multirange(int8range(task, task + 1)) where s.stage_id = stage.stage_id;
  end if;
end $$;
