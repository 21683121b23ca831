-- One held ordinal: whether its worker is within its lease, has named it in a heartbeat, and how it goes. Claimed, started and heard
-- of are three things, and only what is proven is said.
create or replace function app.why_held(stage app.stages, claim app.claims, ordinal bigint)
returns json
language plpgsql stable
as $$
declare
  v_name text := app.task_name(stage, ordinal);
  v_worker app.workers;
  v_task record;
  v_evidence json;
  v_silent_s integer;
begin
  select * into v_worker from app.workers w where w.worker_id = claim.worker_id;
  if not app.is_alive(v_worker) then
    return app.why_lease_over(stage, claim, ordinal, v_worker);
  end if;
  v_silent_s := app.silent_s(v_worker);
  if v_silent_s is not null then
    return app.verdict('WORKER_SILENT', format('%s is held by worker %s, which has been silent for %s s%s', v_name, v_worker.worker_id, v_silent_s,
        case when not app.is_connected(v_worker) then ': its connection to the database is gone' else '' end),
      json_build_object('worker', app.worker_facts(v_worker, stage.tenant_id), 'silent_s', v_silent_s, 'claimed_at', claim.claimed_at,
        'held', app.held_count(claim.held), 'attempt', claim.attempt),
      v_worker.heartbeat_at, v_worker.heartbeat_at + make_interval(secs => v_worker.lease_s),
      'unless the worker is heard of again, its lease ends then, and others run what it held', null);
  end if;
  select * into v_task from app.running_tasks(stage) t where t.claim_id = claim.claim_id and t.ordinal = why_held.ordinal;
  if v_task.claim_id is not null then
    return app.why_running(stage, ordinal, v_task.state, v_worker, v_task.started_at, v_task.elapsed_s, v_task.progress, v_task.progress_age_s, v_task.p95_ms);
  end if;
  v_evidence := json_build_object('worker', app.worker_facts(v_worker, stage.tenant_id), 'claimed_at', claim.claimed_at,
    'attempt', claim.attempt, 'slots', v_worker.slots,
    'worker_runs', case jsonb_typeof(v_worker.running) when 'array' then jsonb_array_length(v_worker.running) end,
    'worker_holds', (select sum(app.held_count(k.held)) from app.claims k where k.worker_id = v_worker.worker_id),
    'late_results', app.late_results(stage.stage_id, ordinal));
  if app.has_not_started(claim, v_worker) then
    return app.verdict('CLAIMED_NOT_STARTED', format('%s was claimed by worker %s at %s, and the worker''s heartbeat at %s does not name it as running',
        v_name, v_worker.worker_id, app.utc_text(claim.claimed_at), app.utc_text(v_worker.heartbeat_at)),
      v_evidence, claim.claimed_at, null,
      'it starts when the worker has a free slot; or it goes back when the worker lets it go or its lease ends', null);
  end if;
  return app.verdict('CLAIMED', format('%s was claimed by worker %s at %s; its next heartbeat will say whether it runs',
      v_name, v_worker.worker_id, app.utc_text(claim.claimed_at)),
    v_evidence, claim.claimed_at, v_worker.heartbeat_at + make_interval(secs => v_worker.lease_s / 3.0), 'the next heartbeat of its worker tells more', null);
end $$;
