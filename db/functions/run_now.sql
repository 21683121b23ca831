-- The command that makes a lone task due now; tasks of jobs are not moved one by one.
create or replace function app.run_now(stage app.stages, ordinal bigint)
returns text
language sql stable
as $$
  select case when stage.job_id is null
    then 'fanfold tasks reschedule ' || stage.stage_id || '-' || ordinal || ' ' || to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') end
$$;
