-- A planned stage starts: its ledger, and what of it may run. A stage with nothing to run closes at once.
create or replace function app.start_stage(
  stage app.stages, total bigint, skipped bigint, runnable int8multirange, task_bytes integer)
returns void
language plpgsql
as $$
begin
  perform app.assert_fan_out(stage, total);
  update app.stages
     set status = 'processing', total = start_stage.total, opened_at = coalesce(opened_at, now())
   where stage_id = stage.stage_id;
  insert into app.stage_progress (stage_id, tenant_id, total, skipped, remaining)
  values (stage.stage_id, stage.tenant_id, total, skipped, total - skipped);
  if total = skipped then
    select * into stage from app.stages where stage_id = stage.stage_id;
    perform app.close_stage(stage, null, null);
    return;
  end if;
  insert into app.ready (stage_id, lo, hi, tenant_id, task_type, priority, task_bytes, turn)
  select stage.stage_id, lower(r), upper(r), stage.tenant_id, stage.task_type, stage.priority, start_stage.task_bytes, app.opening_turn(stage, total - skipped)
    from unnest(runnable) r;
  perform app.wake(array[stage.task_type]);
end $$;
