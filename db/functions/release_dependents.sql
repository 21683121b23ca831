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
  perform app.start_clock(j.job)
     from unnest(tenants, job_ids) as r(tenant_id, job_id)
     cross join lateral (
       select q as job from app.jobs q
        where q.tenant_id = r.tenant_id and q.job_id = r.job_id and q.deadline_left_s is not null offset 0) j;
  perform app.start_plain(array(
    select s.stage_id
      from unnest(tenants, job_ids) as r(tenant_id, job_id)
      cross join lateral (
        select g.stage_id from app.stages g
         where g.tenant_id = r.tenant_id and g.job_id = r.job_id and g.status = 'waiting' and g.waiting_for = 0 and app.is_plain(g)
        offset 0) s
     order by s.stage_id));
  for v_job in
    select j.*
      from unnest(tenants, job_ids) as r(tenant_id, job_id)
      cross join lateral (select * from app.jobs q where q.tenant_id = r.tenant_id and q.job_id = r.job_id offset 0) j
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
