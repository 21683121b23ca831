-- Takes a claim from a worker that is gone. The caller has locked it, and settles the failures this returns. Workers start what
-- they hold of a tenant in order: the first `suspects` ordinals may have been at work when it died, and a crash is counted for them; the
-- others had not begun, and go back unharmed.
create or replace function app.take_back(claim app.claims, suspects bigint, out failed bigint, out failed_plan boolean)
language plpgsql
as $$
declare
  c_message constant text := 'its worker stopped sending heartbeats';
  v_error jsonb;
  v_epoch integer := (select s.epoch from app.stages s where s.stage_id = claim.stage_id);
  v_suspects int8multirange := app.first_ordinals(claim.held, suspects);
begin
  failed := 0;
  failed_plan := false;
  insert into app.attempts (tenant_id, stage_id, ordinal, attempt, epoch, outcome, category, code, signature, message, worker_id)
  select claim.tenant_id, claim.stage_id, o, claim.attempt, coalesce(v_epoch, 1), 'lost', 'crash', 'worker_lost',
    app.error_signature('crash', 'worker_lost', c_message), c_message, claim.worker_id
    from unnest(v_suspects) r, generate_series(lower(r), upper(r) - 1) o;
  insert into app.tallies (name, label, amount) values ('tasks_lost', left(claim.task_type, 63), app.held_count(v_suspects));
  delete from app.claims where claim_id = claim.claim_id;
  perform app.put_back(claim, claim.held - v_suspects, 0);
  if claim.crashes + 1 < app.crash_budget() then
    perform app.put_back(claim, v_suspects, 1);
  elsif v_suspects @> -1::bigint then
    failed_plan := true;
  else
    v_error := jsonb_build_object(
      'category', 'crash', 'code', 'worker_lost', 'quarantined', true,
      'message', 'its worker stopped sending heartbeats, ' || app.crash_budget() || ' times while it held this task',
      'signature', app.error_signature('crash', 'worker_lost', c_message));
    insert into app.results (stage_id, ordinal, tenant_id, status, attempt, worker_id, error)
    select claim.stage_id, o, claim.tenant_id, 'failed', claim.attempt, claim.worker_id, v_error
      from unnest(v_suspects) r, generate_series(lower(r), upper(r) - 1) o;
    get diagnostics failed = row_count;
  end if;
end $$;
