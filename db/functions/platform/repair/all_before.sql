-- The numbers of all jobs that a job of a request waits for, directly or not.
create or replace function platform.all_before(request_job platform.request_jobs)
returns integer[]
language sql stable
as $$
  with recursive before as (
    select unnest(request_job.after) as number
    union
    select unnest(j.after)
      from before b
      join platform.request_jobs j
        on j.tenant_id = request_job.tenant_id and j.request_id = request_job.request_id and j.number = b.number
  )
  select coalesce(array_agg(b.number), '{}') from before b
$$;
