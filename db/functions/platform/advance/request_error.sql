-- What is wrong with a request that ends otherwise than completed: the error of its most important job that failed.
create or replace function platform.request_error(request platform.requests)
returns jsonb
language sql stable
as $$
  select jsonb_strip_nulls(jsonb_build_object('job', l.name, 'job_id', l.job_id, 'message', coalesce(
      l.error ->> 'message', 'job "' || l.name || '" ended ' || l.status), 'code', l.error ->> 'code'))
    from (
      select j.name, j.job_id, j.number, j.importance, coalesce(j.error, q.error) as error, platform.status_of(j.phase, q.status) as status
        from platform.request_jobs j
        left join app.jobs q on q.tenant_id = j.tenant_id and q.job_id = j.job_id
       where j.tenant_id = request.tenant_id and j.request_id = request.request_id
    ) l
   where l.status in ('failed', 'cancelled', 'partial_success')
   order by l.status <> 'failed', l.importance, l.number
   limit 1
$$;
