-- A request as lists show it.
create or replace function platform.request_record(request platform.requests)
returns json
language sql stable
as $$
  select json_build_object(
    'request_id', request.request_id, 'dataset_id', request.dataset_id, 'resource_id', request.resource_id, 'version_id', request.version_id,
    'run', request.run, 'data_type', request.data_type, 'status', request.status, 'metadata', request.metadata, 'labels', request.labels,
    'priority', request.priority, 'correlation_id', request.correlation_id, 'epoch', request.epoch, 'resume_count', request.resume_count,
    'error', request.error, 'created_at', request.created_at, 'created_by', request.created_by, 'started_at', request.started_at,
    'updated_at', request.updated_at, 'finished_at', request.finished_at, 'run_at', request.run_at,
    'jobs', (
      select json_agg(json_build_object('name', j.name, 'job_type', j.job_type, 'sequence', j.sequence, 'job_id', j.job_id,
          'status', case when j.phase = 'processing' then q.status::text else j.phase::text end) order by j.number)
        from platform.request_jobs j
        left join app.jobs q on q.tenant_id = j.tenant_id and q.job_id = j.job_id
       where j.tenant_id = request.tenant_id and j.request_id = request.request_id))
$$;
