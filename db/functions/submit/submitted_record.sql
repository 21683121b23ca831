-- What the submitter of a job is told of it.
create or replace function app.submitted_record(
  job_type text, job_id text, run integer, status app.job_status, created boolean, resumed boolean, epoch integer)
returns json
language sql stable
as $$
  select json_build_object(
    'job_id', job_id, 'job_type', job_type, 'run', run, 'status', status, 'created', created, 'resumed', resumed, 'epoch', epoch,
    'hint', app.job_hint(status), 'action', app.job_action(status, job_id))
$$;
