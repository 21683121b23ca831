-- A stage of a job by its name or number.
create or replace function app.find_stage(job app.jobs, wanted text)
returns app.stages
language plpgsql stable
as $$
declare
  v_stage app.stages;
begin
  select * into v_stage
    from app.stages s
   where s.tenant_id = job.tenant_id and s.job_id = job.job_id and (s.name = wanted or s.number::text = wanted);
  if not found then
    raise exception 'job % has no stage "%"', left(job.job_id, 12), left(coalesce(wanted, 'null'), 80)
      using errcode = 'FF001', hint = 'its stages: ' || (
        select string_agg(s.number || ' ' || s.name, ', ' order by s.number) from app.stages s
         where s.tenant_id = job.tenant_id and s.job_id = job.job_id);
  end if;
  return v_stage;
end $$;
