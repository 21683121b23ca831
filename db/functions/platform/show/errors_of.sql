-- What went wrong in a request: of each job that did not end well its error, and its failed tasks in groups, the largest first.
create or replace function platform.errors_of(request platform.requests)
returns jsonb
language sql stable
as $$
  select coalesce(jsonb_agg(jsonb_build_object('job', j.name, 'job_id', j.job_id, 'status', platform.status_of(j.phase, q.status),
      'message', coalesce(j.error, q.error) ->> 'message', 'code', coalesce(j.error, q.error) ->> 'code',
      'groups', case when q.job_id is not null then app.error_groups(q.job_id, q.tenant_id)::jsonb -> 'groups' else '[]' end) order by j.number), '[]')
    from platform.request_jobs j
    left join app.jobs q on q.tenant_id = j.tenant_id and q.job_id = j.job_id
   where j.tenant_id = request.tenant_id and j.request_id = request.request_id
     and platform.status_of(j.phase, q.status) in ('failed', 'partial_success')
$$;
