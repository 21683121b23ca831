-- What stage_facts says of one stage. A single expression, so that it becomes a part of whatever statement asks.
create or replace function app.stage_fact(stage app.stages, job app.jobs, previous json)
returns json
language sql stable
as $$
  select json_build_object(
    'stage_id', stage.stage_id, 'tenant_id', stage.tenant_id, 'job_id', stage.job_id, 'job_type', job.job_type, 'stage', stage.name,
    'number', stage.number, 'task_type', stage.task_type, 'timeout_s', stage.timeout_s, 'max_attempts', stage.max_attempts,
    'parallelism', stage.parallelism, 'batch', stage.batch, 'parameters', job.parameters, 'correlation_id', job.correlation_id,
    'traceparent', job.traceparent,
    'planner', case when stage.plan ? 'function' or stage.condition ? 'function' then 'function' else 'data' end,
    'of', stage.of_number, 'previous', previous)
$$;
