-- A group with its counts as its jobs' rows say, by an index: for groups that are not counted, and to prove those that are.
create or replace function app.count_group(job_group app.job_groups)
returns app.job_groups
language plpgsql stable
as $$
begin
  select count(*), count(*) filter (where j.status = 'completed'), count(*) filter (where j.status = 'partial_success'),
      count(*) filter (where j.status = 'failed'), count(*) filter (where j.status = 'cancelled')
    into job_group.total, job_group.completed, job_group.partial_success, job_group.failed, job_group.cancelled
    from app.jobs j
   where j.tenant_id = job_group.tenant_id and j.group_id = job_group.group_id;
  return job_group;
end $$;
