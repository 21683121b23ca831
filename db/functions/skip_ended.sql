-- A task that is in neither ready nor claims is skipped: a failed one, or one of a closed stage that never ran. Its stage may
-- still be open (others run): then the ledger moves under the ledger's own lock.
create or replace function app.skip_ended(stage app.stages, task bigint, error jsonb)
returns void
language plpgsql
as $$
declare
  v_gone record;
  v_ledger app.stage_progress;
begin
  if stage.job_id is not null then
    select * into v_ledger from app.stage_progress p where p.stage_id = stage.stage_id for update;
    if v_ledger.stage_id is null then
      raise exception 'stage "%" has no tasks yet', stage.name using errcode = 'FF006';
    end if;
  end if;
  v_gone := app.put_results_back(stage, int8multirange(int8range(task, task + 1)));
  if v_gone.completed > 0 or (v_gone.failed + v_gone.skipped = 0 and v_ledger.is_open) then
    raise exception 'task "%-%" moved at this very moment', stage.stage_id, task using errcode = 'FF006', hint = 'look again: fanfold tasks show';
  end if;
  insert into app.results (stage_id, ordinal, tenant_id, status, error) values (stage.stage_id, task, stage.tenant_id, 'skipped', error);
  update app.stage_progress p
     set failed = p.failed - v_gone.failed, skipped = p.skipped - v_gone.skipped + 1,
         remaining = p.remaining - (1 - v_gone.failed - v_gone.skipped)
   where p.stage_id = stage.stage_id;
end $$;
