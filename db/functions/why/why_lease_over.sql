-- Held by a worker that is not within its lease: a sweep takes it back.
create or replace function app.why_lease_over(stage app.stages, claim app.claims, ordinal bigint, worker app.workers)
returns json
language plpgsql stable
as $$
declare
  v_since timestamptz := case when worker.status = 'live' then worker.heartbeat_at + make_interval(secs => worker.lease_s) else worker.ended_at end;
begin
  return app.why_sweep('LEASE_EXPIRED_PENDING_SWEEP', app.task_name(stage, ordinal) || case
      when worker.worker_id is null then format(' is held by worker %s, and there is no such worker', claim.worker_id)
      when worker.status = 'live' then format(' is held by worker %s, which has sent no heartbeat since %s; its lease ended at %s',
        worker.worker_id, app.utc_text(worker.heartbeat_at), app.utc_text(v_since))
      else format(' is held by worker %s, which is %s since %s', worker.worker_id, worker.status, app.utc_text(v_since))
    end,
    json_build_object('worker', case when worker.worker_id is not null then app.worker_facts(worker, stage.tenant_id) end,
      'claimed_at', claim.claimed_at, 'held', app.held_count(claim.held), 'attempt', claim.attempt, 'crashes', claim.crashes),
    coalesce(v_since, claim.claimed_at), 'a sweep takes it back, and it is tried again');
end $$;
