-- One attempt failed: recorded, and either queued again (true) or failed for good (false). The caller has locked the claim and
-- lets it go. Why a planning failed is read from here when its stage is closed.
create or replace function app.fail_attempt(
  worker uuid, claim bigint, ordinal bigint, duration_ms integer, category text, code text, message text,
  retry_after_s double precision, detail jsonb)
returns boolean
language plpgsql
as $$
declare
  v_claim app.claims;
  v_stage app.stages;
  v_max smallint;
  v_delay double precision;
  v_error jsonb;
  v_signature text;
  v_crashed integer;
begin
  category := case when category in ('transient', 'throttled', 'permanent', 'contract', 'crash') then category else 'transient' end;
  message := left(coalesce(message, 'no message'), 4096);
  code := left(coalesce(code, 'unexpected'), 100);
  select * into v_claim from app.claims where claim_id = claim;
  select * into v_stage from app.stages where stage_id = v_claim.stage_id;
  select coalesce(t.max_attempts, v_stage.max_attempts) into v_max
    from (select 1) one
    left join app.tasks t on t.stage_id = v_claim.stage_id and t.ordinal = fail_attempt.ordinal;
  v_crashed := (category = 'crash')::integer;
  v_delay := app.retry_delay_s(category, v_claim.attempt, v_claim.throttles, v_max, retry_after_s, random());
  v_signature := app.error_signature(category, code, message);
  v_error := jsonb_build_object('category', category, 'code', code, 'message', message, 'signature', v_signature);
  if v_crashed = 1 and v_claim.crashes + 1 >= app.crash_budget() then
    v_delay := null;
    v_error := v_error || jsonb_build_object('quarantined', true);
  end if;
  insert into app.attempts (
    tenant_id, stage_id, ordinal, attempt, epoch, outcome, category, code, signature, message, detail, retry_at, worker_id, duration_ms)
  values (v_claim.tenant_id, v_claim.stage_id, ordinal, v_claim.attempt, v_stage.epoch, 'failed', category, code, v_signature, message,
    detail, now() + make_interval(secs => v_delay), worker, duration_ms);
  if v_delay is not null then
    insert into app.ready (stage_id, lo, hi, tenant_id, task_type, priority, run_at, attempt, crashes, throttles, task_bytes)
    values (v_claim.stage_id, ordinal, ordinal + 1, v_claim.tenant_id, v_claim.task_type, v_claim.priority,
      now() + make_interval(secs => v_delay),
      v_claim.attempt + (category <> 'throttled')::integer, v_claim.crashes + v_crashed, v_claim.throttles + (category = 'throttled')::integer,
      v_claim.task_bytes);
  elsif ordinal >= 0 then
    insert into app.results (stage_id, ordinal, tenant_id, status, attempt, worker_id, duration_ms, error)
    values (v_claim.stage_id, ordinal, v_claim.tenant_id, 'failed', v_claim.attempt, worker, duration_ms, v_error);
  end if;
  return v_delay is not null;
end $$;
