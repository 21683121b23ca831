-- The ids of the jobs of a request that have not ended.
create or replace function platform.open_jobs_of(request platform.requests)
returns text[]
language sql
as $$
  select array(
    select q.job_id
      from platform.request_jobs j
      join app.jobs q on q.tenant_id = j.tenant_id and q.job_id = j.job_id
     where j.tenant_id = request.tenant_id and j.request_id = request.request_id and q.finished_at is null
     order by q.job_id)
$$;
