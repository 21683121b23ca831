-- Jobs that wait for nothing more start, and their deadlines with them. Gives those that ended at once, because nothing of them was
-- to run. The caller holds the jobs' rows.
create or replace function app.release_dependents(inout tenants text[], inout job_ids text[])
language plpgsql
as $$
declare
  v_job app.jobs;
  v_ended_tenants text[] := '{}'::text[];
  v_ended text[] := '{}'::text[];
begin
  insert into app.events (tenant_id, kind, job_id)
  select r.tenant_id, 'job.released', r.job_id from unnest(tenants, job_ids) as r(tenant_id, job_id);
  perform app.start_clock(j)
     from unnest(tenants, job_ids) as r(tenant_id, job_id)
     join app.jobs j on j.tenant_id = r.tenant_id and j.job_id = r.job_id
    where j.deadline_left_s is not null;
  perform app.start_plain(array(
    select s.stage_id
      from unnest(tenants, job_ids) as r(tenant_id, job_id)
      join app.stages s on s.tenant_id = r.tenant_id and s.job_id = r.job_id
     where s.status = 'waiting' and s.waiting_for = 0 and app.is_plain(s)
     order by s.stage_id));
  for v_job in
    select j.*
      from unnest(tenants, job_ids) as r(tenant_id, job_id)
      join app.jobs j on j.tenant_id = r.tenant_id and j.job_id = r.job_id
     where exists (
       select from app.stages s
        where s.tenant_id = j.tenant_id and s.job_id = j.job_id and s.status = 'waiting' and s.waiting_for = 0)
  loop
    if app.open_or_end(v_job) then
      v_ended_tenants := v_ended_tenants || v_job.tenant_id;
      v_ended := v_ended || v_job.job_id;
    end if;
  end loop;
  tenants := v_ended_tenants;
  job_ids := v_ended;
end $$;
