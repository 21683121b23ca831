-- Open jobs in a state that cannot happen, one page of all open jobs: {jobs: [[tenant, job]], next}. Only a suspicion: mend_job
-- looks again under the locks.
create or replace function app.stuck_jobs(after json default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_own text := app.worker_tenant();
begin
  return (
    with page as materialized (
      select j.* from app.jobs j
       where j.finished_at is null and (v_own is null or j.tenant_id = v_own)
         and (after is null or (coalesce(j.deadline_at, 'infinity'), j.job_id) > ((after ->> 0)::timestamptz, after ->> 1))
       order by coalesce(j.deadline_at, 'infinity'), j.job_id
       limit 200
    )
    select json_build_object(
      'jobs', coalesce((select json_agg(json_build_array(p.tenant_id, p.job_id)) from page p where (app.job_trouble(p.tenant_id, p.job_id)).trouble is not null), '[]'),
      'next', (select json_build_array(coalesce(p.deadline_at, 'infinity'), p.job_id) from page p
                order by coalesce(p.deadline_at, 'infinity') desc, p.job_id desc limit 1)));
end $$;
grant execute on function app.stuck_jobs(json) to fanfold_worker, fanfold_admin;
