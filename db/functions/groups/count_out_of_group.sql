-- An ended job goes on: its group, if it counts, is one end short again. The caller holds the job's row, with how it had ended.
create or replace function app.count_out_of_group(job app.jobs)
returns void
language plpgsql
as $$
begin
  if job.group_id is null or not app.is_counted(job.tenant_id, job.group_id) then
    return;
  end if;
  insert into app.group_changes (tenant_id, group_id, completed, partial_success, failed, cancelled)
  values (job.tenant_id, job.group_id, -(job.status = 'completed')::integer, -(job.status = 'partial_success')::integer,
    -(job.status = 'failed')::integer, -(job.status = 'cancelled')::integer);
end $$;
