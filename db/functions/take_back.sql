-- Takes a claim from a worker that is gone. The caller has locked it, and settles the failures this returns.
create or replace function app.take_back(claim app.claims, out failed bigint, out failed_plan boolean)
language plpgsql
as $$
declare
  c_crash_budget constant integer := 3;
  v_error jsonb := '{"category": "crash", "code": "worker_lost", "message": "its worker died three times while it held this task"}'::jsonb;
begin
  failed := 0;
  failed_plan := false;
  insert into app.attempts (tenant_id, stage_id, ordinal, attempt, outcome, category, code, message, worker_id)
  select claim.tenant_id, claim.stage_id, o, claim.attempt, 'lost', 'crash', 'worker_lost', 'its worker stopped sending heartbeats', claim.worker_id
    from unnest(claim.held) r, generate_series(lower(r), upper(r) - 1) o;
  delete from app.claims where claim_id = claim.claim_id;
  if claim.crashes + 1 < c_crash_budget then
    perform app.put_back(claim, claim.held, 1);
  elsif claim.held = '{[-1,0)}' then
    failed_plan := true;
  else
    insert into app.results (stage_id, ordinal, tenant_id, status, attempt, worker_id, error)
    select claim.stage_id, o, claim.tenant_id, 'failed', claim.attempt, claim.worker_id, v_error
      from unnest(claim.held) r, generate_series(lower(r), upper(r) - 1) o;
    get diagnostics failed = row_count;
  end if;
end $$;
