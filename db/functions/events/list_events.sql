-- The story of a job, oldest first.
create or replace function app.list_events(job_id text, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), list_events.job_id);
begin
  return (
    select coalesce(json_agg(json_build_object('event_id', e.event_id, 'at', e.at, 'kind', e.kind, 'actor', e.actor,
        'stage_id', e.stage_id, 'reason', e.reason, 'data', e.data) order by e.event_id), '[]')
      from app.events e
     where e.tenant_id = v_job.tenant_id and e.job_id = v_job.job_id);
end $$;
grant execute on function app.list_events(text, text) to fanfold_api, fanfold_admin;
