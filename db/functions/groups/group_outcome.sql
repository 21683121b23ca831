-- How a group whose jobs have all ended ended: as they did where they agree; with something usable in it, a partial success; else
-- failed, if anything of it failed. A group of no jobs is complete.
create or replace function app.group_outcome(job_group app.job_groups)
returns text
language sql immutable
as $$
  select case
    when job_group.completed = job_group.total then 'completed'
    when job_group.completed + job_group.partial_success > 0 then 'partial_success'
    when job_group.failed > 0 then 'failed'
    else 'cancelled'
  end
$$;
