-- Takes ended jobs away (or all of a tenant that lives in another cell), with all that hangs on them: from here on nobody finds them. Their stages are remembered until the rows of their tasks
-- are gone. What people did to them stays in the audit, and files that they delivered stay. The caller holds the jobs (hold_jobs) and has
-- asked job_keepers.
create or replace function app.remove_jobs(tenant text, job_ids text[])
returns void
language plpgsql
as $$
declare
  v_stages bigint[] := array(select s.stage_id from app.stages s where s.tenant_id = tenant and s.job_id = any (job_ids));
  v_engine text[];
  v_rejects regclass := to_regclass('geo.rejects');
begin
  insert into app.removed_stages (stage_id, tenant_id, hi)
  select s.stage_id, s.tenant_id, greatest(s.total, (select max(t.ordinal) + 1 from app.tasks t where t.stage_id = s.stage_id), 0)
    from app.stages s
   where s.stage_id = any (v_stages);
  delete from app.stage_progress p where p.stage_id = any (v_stages);
  delete from app.stages s where s.stage_id = any (v_stages);
  delete from app.webhook_deliveries w where w.tenant_id = tenant and w.job_id = any (job_ids);
  delete from app.job_dependencies d where d.tenant_id = tenant and d.job_id = any (job_ids);
  v_engine := array(select r.role_name::text from app.tenant_roles r where r.tenant_id is null) || session_user::text;
  delete from app.events e where e.tenant_id = tenant and e.job_id = any (job_ids) and not app.is_audited(e, v_engine);
  -- Without PostGIS there is no such schema.
  if v_rejects is not null then
    execute format('delete from %s r where r.tenant_id = $1 and r.job_id = any ($2)', v_rejects) using tenant, job_ids;
  end if;
  insert into app.job_tallies (tenant_id, job_type, status, amount)
  select j.tenant_id, j.job_type, j.status, -count(*)
    from app.jobs j
   where j.tenant_id = tenant and j.job_id = any (job_ids) and j.finished_at is not null
   group by 1, 2, 3;
  delete from app.jobs j where j.tenant_id = tenant and j.job_id = any (job_ids);
end $$;
