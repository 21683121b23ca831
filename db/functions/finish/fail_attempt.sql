-- One attempt failed: recorded, and either queued again (true) or failed for good (false). The caller has locked the claim and
-- lets it go. Why a planning failed is read from here when its stage is closed. `retry` is what the handler and its worker say
-- of another attempt; the stage, its submit and the task itself come first. The engine's own trouble (category engine) is no failure of
-- the task: it is handed back, at no cost to its attempts, as often as the engine has patience.
create or replace function app.fail_attempt(
  worker uuid, claim bigint, ordinal bigint, duration_ms integer, category text, code text, message text,
  retry_after_s double precision, detail jsonb, retry jsonb default null)
returns boolean
language plpgsql
as $$
declare
  v_claim app.claims;
  v_stage app.stages;
  v_task app.tasks;
  v_kind text;
  v_budget app.retry_budget;
  v_times integer;
  v_spent_s double precision;
  v_delay double precision;
  v_error jsonb;
  v_signature text;
  v_crashed integer;
begin
  category := case when category in ('transient', 'throttled', 'permanent', 'contract', 'crash', 'engine') then category else 'transient' end;
  message := left(coalesce(message, 'no message'), 4096);
  code := left(coalesce(code, 'unexpected'), 100);
  select * into v_claim from app.claims where claim_id = claim;
  select * into v_stage from app.stages where stage_id = v_claim.stage_id;
  select * into v_task from app.tasks t where t.stage_id = v_claim.stage_id and t.ordinal = fail_attempt.ordinal;
  v_crashed := (category = 'crash')::integer;
  v_kind := app.retry_kind(category, code);
  if v_kind is not null then
    -- The engine's patience with itself is nobody's to shorten.
    v_budget := app.retry_budget_of(v_kind, case when category = 'engine' then '{}' else app.retry_said(retry, v_stage, v_task) end);
    select s.times, s.spent_s into v_times, v_spent_s
      from app.retry_spent(v_claim.stage_id, ordinal, v_stage.epoch, category = 'engine', duration_ms) s;
    v_delay := app.retry_delay_s(v_kind, v_budget, v_claim.attempt,
      case category when 'throttled' then v_claim.throttles + 1 when 'engine' then v_times + 1 else v_claim.attempt end,
      v_spent_s, retry_after_s, random());
  end if;
  if v_delay is null and category = 'engine' then
    -- Its patience is over: from here on it is the task's failure like any other.
    category := 'transient';
  end if;
  v_signature := app.error_signature(category, code, message);
  v_error := jsonb_build_object('category', category, 'code', code, 'message', message, 'signature', v_signature);
  if v_crashed = 1 and v_claim.crashes + 1 >= app.crash_budget() then
    v_delay := null;
    v_error := v_error || jsonb_build_object('quarantined', true);
  end if;
  insert into app.attempts (
    tenant_id, stage_id, ordinal, attempt, epoch, outcome, category, code, signature, message, detail, retry_at, max_attempts, gives_up_at,
    worker_id, duration_ms)
  values (v_claim.tenant_id, v_claim.stage_id, ordinal, v_claim.attempt, v_stage.epoch, case category when 'engine' then 'released' else 'failed' end,
    category, code, v_signature, message, detail, now() + make_interval(secs => v_delay),
    case when category not in ('throttled', 'engine') then v_budget.attempts end,
    case when v_delay is not null and v_budget.within_s is not null then now() + make_interval(secs => greatest(v_delay, v_budget.within_s - v_spent_s)) end,
    worker, duration_ms);
  if v_delay is not null then
    insert into app.ready (stage_id, lo, hi, tenant_id, task_type, priority, run_at, attempt, crashes, throttles, task_bytes, turn)
    values (v_claim.stage_id, ordinal, ordinal + 1, v_claim.tenant_id, v_claim.task_type, v_claim.priority,
      now() + make_interval(secs => v_delay),
      v_claim.attempt + (category not in ('throttled', 'engine'))::integer, v_claim.crashes + v_crashed,
      v_claim.throttles + (category = 'throttled')::integer, v_claim.task_bytes,
      case when v_delay > 0 then -1 else app.ring_turn(v_stage.job_id, v_stage.stage_id) end);
  elsif ordinal >= 0 then
    insert into app.results (stage_id, ordinal, tenant_id, status, attempt, worker_id, duration_ms, error)
    values (v_claim.stage_id, ordinal, v_claim.tenant_id, 'failed', v_claim.attempt, worker, duration_ms, v_error);
  end if;
  return v_delay is not null;
end $$;
