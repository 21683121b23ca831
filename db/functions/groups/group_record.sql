-- A group as it is told. One that is not counted is counted now.
create or replace function app.group_record(job_group app.job_groups)
returns json
language plpgsql stable
as $$
begin
  if job_group.sealed_at is null and job_group.expected is null then
    job_group := app.count_group(job_group);
  end if;
  return json_build_object(
    'group_id', job_group.group_id, 'name', job_group.name, 'status', job_group.status, 'created_at', job_group.created_at,
    'created_by', job_group.created_by, 'expected', job_group.expected, 'sealed_at', job_group.sealed_at, 'sealed_by', job_group.sealed_by,
    'finished_at', job_group.finished_at, 'total', job_group.total, 'completed', job_group.completed,
    'partial_success', job_group.partial_success, 'failed', job_group.failed, 'cancelled', job_group.cancelled,
    'open', job_group.total - job_group.completed - job_group.partial_success - job_group.failed - job_group.cancelled,
    'hint', case
      when job_group.status <> 'open' then 'it has ended; a job of it that is resumed opens it again'
      when job_group.sealed_at is not null then 'it is sealed, and ends with the last of its jobs'
      when job_group.expected is not null then 'it is sealed with its ' || job_group.expected || '. job, or by hand'
      else 'it ends only once it is sealed'
    end,
    'action', case when job_group.status = 'open' and job_group.sealed_at is null then app.action('groups.seal', group_id => job_group.group_id) end);
end $$;
