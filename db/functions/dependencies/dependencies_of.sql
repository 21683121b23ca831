-- The jobs a job depends on, for its status: [{job_id, job_type, status, needs, satisfied_at}].
create or replace function app.dependencies_of(job app.jobs)
returns json
language plpgsql stable
as $$
begin
  return (
    select coalesce(json_agg(json_build_object(
        'job_id', d.depends_on, 'job_type', q.job_type, 'status', q.status, 'needs', d.needs, 'satisfied_at', d.satisfied_at)
        order by d.satisfied_at nulls first, d.depends_on), '[]')
      from app.job_dependencies d
      left join app.jobs q on q.tenant_id = d.tenant_id and q.job_id = d.depends_on
     where d.tenant_id = job.tenant_id and d.job_id = job.job_id);
end $$;
