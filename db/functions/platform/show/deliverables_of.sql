-- What the jobs of a request delivered, by name and job.
create or replace function platform.deliverables_of(request platform.requests)
returns jsonb
language sql stable
as $$
  select coalesce(jsonb_agg(d.one || jsonb_build_object('job', j.name) order by j.number, d.place), '[]')
    from platform.request_jobs j
    join app.jobs q on q.tenant_id = j.tenant_id and q.job_id = j.job_id
    cross join lateral jsonb_array_elements(app.job_deliverables(q)::jsonb) with ordinality d(one, place)
   where j.tenant_id = request.tenant_id and j.request_id = request.request_id
$$;
