-- One task with what it was given and what it produced, the story of its attempts, the one that is under way, and the last hundred
-- lines it logged. request: {tenant?, task_id, largest?: values with more bytes of text are left out and named in left_out, machines?}.
create or replace function app.read_task(request json)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  -- Being told to slow down costs no attempt: a task may have been asked any number of times.
  c_attempts constant integer := 500;
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_found record := app.find_task(v_tenant, request ->> 'task_id');
  v_stage app.stages := v_found.stage;
  v_ordinal bigint := v_found.ordinal;
  v_id text := v_stage.stage_id || '-' || v_ordinal;
  v_machines boolean := coalesce((request ->> 'machines')::boolean, false) and app.is_server();
  v_largest bigint := coalesce((request ->> 'largest')::bigint, 9223372036854775807);
begin
  return (
    select json_build_object(
      'task_id', v_id, 'job_id', t.job_id, 'stage', t.stage, 'task_type', t.task_type, 'ordinal', t.ordinal, 'index', t.index,
      'status', t.status, 'attempt', t.attempt, 'priority', t.priority, 'run_at', t.run_at, 'worker_id', t.worker_id,
      'created_at', t.created_at, 'finished_at', t.finished_at, 'duration_ms', t.duration_ms, 'error', t.error,
      'stage_number', case when v_stage.job_id is not null then v_stage.number end, 'stage_opened_at', v_stage.opened_at,
      'max_attempts', coalesce(k.max_attempts, v_stage.max_attempts),
      'retry', nullif(coalesce(v_stage.retry, '{}') || coalesce(k.retry, '{}'), '{}'), 'timeout_s', v_stage.timeout_s, 'parent', k.parent, 'bbox', k.bbox,
      'parameters', case when b.parameters <= v_largest then k.parameters end,
      'metadata', case when b.metadata <= v_largest then k.metadata end,
      'result', case when b.result <= v_largest then r.result end, 'spill', r.spill,
      'next_stage_params', case when b.next_stage_params <= v_largest then r.next_stage_params end,
      'deliverables', case when b.deliverables <= v_largest then r.deliverables end,
      'bytes', json_build_object('parameters', b.parameters, 'metadata', b.metadata, 'result', coalesce((r.spill ->> 'bytes')::bigint, b.result),
        'next_stage_params', b.next_stage_params, 'deliverables', b.deliverables),
      'left_out', array_to_json(array(
        select x.name
          from (values ('parameters', b.parameters), ('metadata', b.metadata), ('result', b.result),
            ('next_stage_params', b.next_stage_params), ('deliverables', b.deliverables)) x(name, bytes)
         where x.bytes > v_largest)),
      'worker', app.worker_place(coalesce(r.worker_id, t.worker_id), v_tenant, v_machines),
      'running', case when t.status = 'processing' then app.running_attempt(v_stage, v_ordinal, v_machines) end,
      'logs', (
        select coalesce(json_agg(json_build_object('at', l.at, 'attempt', l.attempt, 'level', l.level, 'message', l.message, 'data', l.data)
            order by l.log_id), '[]')
          from (
            select * from app.task_logs g where g.stage_id = t.stage_id and g.ordinal = t.ordinal order by g.log_id desc limit 100) l),
      'attempts', (
        select coalesce(json_agg(json_build_object('attempt', a.attempt, 'epoch', a.epoch, 'outcome', a.outcome, 'signature', a.signature, 'detail', a.detail,
            'duration_ms', a.duration_ms, 'category', a.category, 'code', a.code,
            'message', a.message, 'worker_id', a.worker_id, 'worker', app.worker_place(a.worker_id, v_tenant, v_machines),
            -- A task that was repaired away has only the time of the repair.
            'started_at', case when a.outcome <> 'superseded' then a.ended_at - make_interval(secs => a.duration_ms / 1000.0) end,
            'ended_at', a.ended_at, 'retry_at', a.retry_at, 'max_attempts', a.max_attempts, 'gives_up_at', a.gives_up_at) order by a.attempt_id), '[]')
          from (
            select * from app.attempts h where h.stage_id = t.stage_id and h.ordinal = t.ordinal order by h.attempt_id desc limit c_attempts) a),
      'attempts_left_out', greatest(0, (
        select count(*) from app.attempts h where h.stage_id = t.stage_id and h.ordinal = t.ordinal) - c_attempts))
      from app.task_states t
      join app.tasks k on k.stage_id = t.stage_id and k.ordinal = t.ordinal
      left join app.results r on r.stage_id = t.stage_id and r.ordinal = t.ordinal
      cross join lateral (
        select octet_length(k.parameters::text) as parameters, octet_length(k.metadata::text) as metadata, octet_length(r.result::text) as result,
          octet_length(r.next_stage_params::text) as next_stage_params, octet_length(r.deliverables::text) as deliverables) b
     where t.stage_id = v_stage.stage_id and t.ordinal = v_ordinal);
end $$;
grant execute on function app.read_task(json) to fanfold_api, fanfold_admin;
