-- After a repair of what comes before it: did the job complete, with the very parameters that it would be given now? Where these name a job
-- that ran again since, or code would make them, it does not stand: what is behind the name is another.
create or replace function platform.still_stands(request platform.requests, request_job platform.request_jobs)
returns boolean
language sql stable
as $$
  select exists (
    select from app.jobs q
      join app.blueprints b on b.tenant_id = q.tenant_id and b.blueprint_hash = q.blueprint_hash
      cross join lateral platform.made_parameters(request, request_job, b.blueprint -> 'parameters') m
     where q.tenant_id = request_job.tenant_id and q.job_id = request_job.job_id and q.status = 'completed' and q.parameters = m.parameters
       and not exists (
         select from platform.request_jobs a
           join app.jobs p on p.tenant_id = a.tenant_id and p.job_id = a.job_id
          where a.tenant_id = request_job.tenant_id and a.request_id = request_job.request_id and p.finished_at > q.created_at
            and a.number = any (platform.all_before(request_job))
            and (request_job.parameters ? 'made' or strpos(request_job.parameters::text, '{jobs.' || a.name || '.job_id}') > 0)))
$$;
