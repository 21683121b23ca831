-- A claim that slipped in beside a cancel finishes into a stage that is closed: what this transaction wrote there goes again.
-- So does what was written into a stage whose rows were deleted meanwhile. Standing stages have no ledger and are never closed.
create or replace function app.undo_in_closed_stages(stages bigint[], moved bigint[], worker uuid)
returns void
language plpgsql
as $$
declare
  v_stage app.stages;
  v_deleted bigint[];
begin
  -- Found first: the standing stage of a million lone tasks comes by here with every finish.
  v_deleted := array(
    select u.stage_id from unnest(stages) u(stage_id)
     where u.stage_id <> all (moved) and not exists (select from app.stages s where s.stage_id = u.stage_id));
  if v_deleted <> '{}' then
    delete from app.results r
     where r.stage_id = any (v_deleted) and r.worker_id = coalesce(worker, r.worker_id) and r.finished_at = now();
  end if;
  for v_stage in
    select * from app.stages s where s.stage_id = any (stages) and s.stage_id <> all (moved) and s.job_id is not null
  loop
    with gone as (
      delete from app.results r
       where r.stage_id = v_stage.stage_id and r.worker_id = coalesce(worker, r.worker_id) and r.finished_at = now()
      returning r.ordinal, r.attempt, r.duration_ms, r.status
    ),
    -- They were noted as ended.
    noted as (
      insert into app.rate_notes (stages, completed, failed)
      select array[v_stage.stage_id], array[-count(*) filter (where g.status = 'completed')], array[-count(*) filter (where g.status = 'failed')]
        from gone g
      having count(*) > 0
    )
    insert into app.attempts (tenant_id, stage_id, ordinal, attempt, epoch, outcome, code, message, worker_id, duration_ms)
    select v_stage.tenant_id, v_stage.stage_id, g.ordinal, g.attempt, v_stage.epoch, 'refused', 'stage_closed', 'its stage was closed before it finished', worker, g.duration_ms
      from gone g;
    delete from app.ready where ready_id in (select q.ready_id from app.ready q where q.stage_id = v_stage.stage_id for update skip locked);
  end loop;
end $$;
