-- What the caller that submitted a request is told of it.
create or replace function platform.submitted_record(tenant text, request text, created boolean, resumed boolean)
returns json
language sql stable
as $$
  select json_build_object(
    'request_id', r.request_id, 'dataset_id', r.dataset_id, 'resource_id', r.resource_id, 'version_id', r.version_id, 'run', r.run,
    'data_type', r.data_type, 'status', r.status, 'created', created, 'resumed', resumed, 'epoch', r.epoch,
    'jobs', (
      select json_agg(json_build_object('name', j.name, 'job_type', j.job_type, 'sequence', j.sequence, 'job_id', j.job_id,
          'status', platform.status_of(j.phase, q.status)) order by j.number)
        from platform.request_jobs j
        left join app.jobs q on q.tenant_id = j.tenant_id and q.job_id = j.job_id
       where j.tenant_id = r.tenant_id and j.request_id = r.request_id),
    'status_url', '/api/platform/status/' || r.request_id)
    from platform.requests r
   where r.tenant_id = tenant and r.request_id = request
$$;
