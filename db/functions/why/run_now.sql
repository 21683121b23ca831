-- The action that makes a lone task due now; tasks of jobs are not moved one by one.
create or replace function app.run_now(stage app.stages, ordinal bigint)
returns jsonb
language sql stable
as $$
  select case when stage.job_id is null
    then app.action('tasks.reschedule', task_id => stage.stage_id || '-' || ordinal,
      run_at => to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) end
$$;
