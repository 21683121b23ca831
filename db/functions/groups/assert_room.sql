-- A group that says how many jobs it will have takes no more.
create or replace function app.assert_room(job_group app.job_groups, added bigint)
returns void
language plpgsql
as $$
begin
  if job_group.total + added > job_group.expected then
    raise exception 'group "%" expects % jobs and has %: % more are too many', job_group.group_id, job_group.expected, job_group.total, added
      using errcode = 'FF006', hint = 'use another group; look at this one', detail = app.action('groups.get', group_id => job_group.group_id);
  end if;
end $$;
