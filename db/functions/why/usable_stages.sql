-- What of a job is done and stays: the stages with completed tasks.
create or replace function app.usable_stages(job app.jobs)
returns json
language plpgsql stable
as $$
begin
  return (
    select json_agg(json_build_object('stage', s.name, 'status', s.status, 'completed', p.completed, 'total', p.total) order by s.number)
      from app.stages s
      join app.stage_progress p on p.stage_id = s.stage_id and p.completed > 0
     where s.tenant_id = job.tenant_id and s.job_id = job.job_id);
end $$;
