-- One task that a live worker named as running in its last heartbeat. Its worker ends the attempt at its time-out.
create or replace function app.why_running(
  stage app.stages, ordinal bigint, state text, worker app.workers, started_at timestamptz, elapsed_s numeric, progress jsonb,
  progress_age_s numeric, p95_ms integer)
returns json
language plpgsql stable
as $$
declare
  v_name text := app.task_name(stage, ordinal);
  v_times_out timestamptz := why_running.started_at + make_interval(secs => stage.timeout_s);
  v_progress text := nullif(concat_ws(' ', (progress ->> 'done') || ' of ' || (progress ->> 'total'), progress ->> 'share', progress ->> 'message'), '');
  v_evidence json := json_build_object('worker', app.worker_facts(worker, stage.tenant_id), 'started_at', why_running.started_at,
    'elapsed_s', elapsed_s, 'timeout_s', stage.timeout_s, 'progress', progress, 'progress_age_s', progress_age_s, 'p95_s', round(p95_ms / 1000.0, 3),
    'late_results', app.late_results(stage.stage_id, ordinal));
  v_ends constant text := 'its time-out ends the attempt, and it is tried again while attempts are left';
begin
  if state = 'overdue' then
    return app.why_sweep('TIMEOUT_PENDING_SWEEP', format('%s had run %s s at its worker''s last heartbeat; its time-out is %s s, and the worker has not ended it',
      v_name, elapsed_s, stage.timeout_s), v_evidence, v_times_out, 'a sweep fails the attempt');
  elsif state = 'no_progress' then
    return app.verdict('HEARTBEAT_NO_PROGRESS', format('%s runs on a worker that is alive; it has run %s s and has reported the same progress%s for %s s',
      v_name, elapsed_s, coalesce(' (' || v_progress || ')', ''), progress_age_s), v_evidence,
      worker.heartbeat_at - make_interval(secs => progress_age_s::double precision), v_times_out, v_ends, null);
  elsif state = 'straggler' then
    return app.verdict('STRAGGLER', format('%s has run %s s, more than three times what 95 of 100 tasks of its stage took (%s s)',
      v_name, elapsed_s, round(p95_ms / 1000.0, 3)), v_evidence, why_running.started_at, v_times_out, v_ends, null);
  end if;
  return app.verdict('RUNNING', format('%s has run %s s on worker %s%s', v_name, elapsed_s, worker.worker_id, coalesce(', last progress ' || v_progress, '')),
    v_evidence, why_running.started_at, v_times_out, 'it is under way' || coalesce('; ' || case when v_times_out is not null then v_ends end, ''), null);
end $$;
