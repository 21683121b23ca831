-- The failures of a job by signature, largest group first: category, code, the message with what differs masked, a sample, and
-- where they are.
create or replace function app.error_groups(job_id text, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), error_groups.job_id);
begin
  return (
    select coalesce(json_agg(json_build_object(
        'signature', g.signature, 'category', g.category, 'code', g.code, 'message', app.masked_message(g.sample), 'sample', g.sample,
        'tasks', g.tasks, 'quarantined', g.quarantined, 'stages', g.stages, 'first_at', g.first_at, 'last_at', g.last_at,
        'task_ids', g.task_ids, 'retry', 'fanfold retry ' || left(v_job.job_id, 12) || ' --group ' || g.signature)
        order by g.tasks desc, g.signature), '[]')
      from (
        select app.signature_of(r.error) as signature, r.error ->> 'category' as category, r.error ->> 'code' as code,
          (array_agg(r.error ->> 'message' order by r.stage_id, r.ordinal))[1] as sample, count(*) as tasks, bool_or((r.error ->> 'quarantined')::boolean) is true as quarantined,
          array_agg(distinct s.name) as stages, min(r.finished_at) as first_at, max(r.finished_at) as last_at,
          (array_agg(r.stage_id || '-' || r.ordinal order by r.stage_id, r.ordinal))[:5] as task_ids
          from app.stages s
          join app.results r on r.stage_id = s.stage_id and r.status = 'failed'
         where s.tenant_id = v_job.tenant_id and s.job_id = v_job.job_id
         group by 1, 2, 3
      ) g);
end $$;
grant execute on function app.error_groups(text, text) to fanfold_api, fanfold_admin;
