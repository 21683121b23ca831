-- What the templates and conditions of a request's jobs are about: {request: …, jobs: {name: {job_id, job_type, status, result}}}, the jobs
-- only where they are asked for. A result is that of the job's last stage, when that was one task, and null when it was too large for
-- the database.
create or replace function platform.request_scope(request platform.requests, with_jobs boolean)
returns jsonb
language sql stable
as $$
  select jsonb_build_object(
    'request', jsonb_build_object(
      'request_id', request.request_id, 'tenant_id', request.tenant_id, 'dataset_id', request.dataset_id, 'resource_id', request.resource_id,
      'version_id', request.version_id, 'run', request.run, 'data_type', request.data_type, 'files', request.files,
      'parameters', request.parameters, 'metadata', request.metadata, 'names', platform.names_of(request)),
    'jobs', case when with_jobs then (
      select coalesce(jsonb_object_agg(j.name, jsonb_build_object('job_id', j.job_id, 'job_type', j.job_type,
          'status', platform.status_of(j.phase, q.status), 'result', app.job_result(j.tenant_id, j.job_id))), '{}')
        from platform.request_jobs j
        left join app.jobs q on q.tenant_id = j.tenant_id and q.job_id = j.job_id
       where j.tenant_id = request.tenant_id and j.request_id = request.request_id) else '{}' end)
$$;
