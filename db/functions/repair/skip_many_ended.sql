-- Skips those of the ordinals that failed or, in a stage that is not open, never ran; and writes into the ledger of an open stage that
-- `further` were skipped before they ended. As skip_ended and settle_skip do for one: the ledger of an open stage moves under its own
-- lock, anything else of a job under the job's row. Returns what it skipped.
create or replace function app.skip_many_ended(stage app.stages, ordinals int8multirange, statuses text[], further bigint, error jsonb)
returns int8multirange
language plpgsql
as $$
declare
  v_is_open boolean := stage.status = 'processing';
  v_ledger app.stage_progress;
  v_found record;
  v_skipped int8multirange;
  v_gone record;
begin
  if v_is_open then
    select * into v_ledger from app.stage_progress p where p.stage_id = stage.stage_id for update;
  else
    perform app.lock_jobs_of(array[stage.stage_id]);
  end if;
  if (select s.status from app.stages s where s.stage_id = stage.stage_id) <> stage.status or (v_is_open and not v_ledger.is_open) then
    raise exception 'stage "%" moved on at this very moment', stage.name using errcode = 'FF006', hint = 'look again, and try again';
  end if;
  v_found := app.ordinals_by_status(stage, ordinals);
  v_skipped := case when 'failed' = any (statuses) then v_found.failed else '{}' end
    + case when 'cancelled' = any (statuses) and not v_is_open then v_found.cancelled else '{}' end;
  v_gone := app.put_results_back(stage, v_skipped);
  insert into app.results (stage_id, ordinal, tenant_id, status, error)
  select stage.stage_id, o, stage.tenant_id, 'skipped', skip_many_ended.error
    from unnest(v_skipped) w
    cross join lateral generate_series(lower(w), upper(w) - 1) o;
  update app.stage_progress p
     set failed = p.failed - v_gone.failed, skipped = p.skipped + app.held_count(v_skipped) + further,
         remaining = p.remaining - (app.held_count(v_skipped) - v_gone.failed) - further,
         is_open = p.is_open and p.remaining > (app.held_count(v_skipped) - v_gone.failed) + further
   where p.stage_id = stage.stage_id;
  if not v_is_open then
    -- A repair that waits for its turn does not run them again.
    update app.stages s set again = s.again - v_skipped where s.stage_id = stage.stage_id;
  end if;
  return v_skipped;
end $$;
