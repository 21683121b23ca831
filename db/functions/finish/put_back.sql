-- Ranges of a claim become ready again. A stage that has closed meanwhile takes nothing back. Small work keeps the place it was taken from.
create or replace function app.put_back(claim app.claims, ranges int8multirange, further_crashes integer)
returns void
language plpgsql
as $$
declare
  v_stage app.stages;
  v_turn bigint;
begin
  select * into v_stage from app.stages s where s.stage_id = claim.stage_id and s.closed_at is null;
  if not found then
    return;
  end if;
  v_turn := app.ring_turn(v_stage.job_id, v_stage.stage_id);
  if claim.attempt = 1 and claim.throttles = 0 and claim.crashes + further_crashes = 0
    and app.turn_of_stage(v_stage, coalesce(v_stage.total, 1)) < v_turn then
    v_turn := app.place_of(claim.claimed_at);
  end if;
  insert into app.ready (stage_id, lo, hi, tenant_id, task_type, priority, attempt, crashes, throttles, task_bytes, turn)
  select claim.stage_id, lower(r), upper(r), claim.tenant_id, claim.task_type, claim.priority, claim.attempt,
    claim.crashes + further_crashes, claim.throttles, claim.task_bytes, v_turn
    from unnest(ranges) r;
end $$;
