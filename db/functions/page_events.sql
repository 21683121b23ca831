-- What happened to a job, oldest first, in pages: `after` is the id of the last event of the page before.
create or replace function app.page_events(job_id text, after bigint default null, page_rows integer default 50, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), page_events.job_id);
  v_rows integer := coalesce(page_rows, 50);
begin
  if v_rows not between 1 and 1000 then
    raise exception 'a page has 1 to 1000 rows, not %', v_rows using errcode = 'FF002';
  end if;
  return (
    with page as (
      select * from app.events e
       where e.tenant_id = v_job.tenant_id and e.job_id = v_job.job_id and e.event_id > coalesce(page_events.after, -1)
       order by e.event_id
       limit v_rows + 1
    ),
    shown as (select * from page order by event_id limit v_rows)
    select json_build_object('job_id', v_job.job_id,
      'events', coalesce(json_agg(json_build_object('event_id', e.event_id, 'at', e.at, 'kind', e.kind, 'actor', e.actor,
        'stage_id', e.stage_id, 'reason', e.reason, 'data', e.data) order by e.event_id), '[]'),
      'next', case when (select count(*) from page) > v_rows then max(e.event_id)::text end)
    from shown e);
end $$;
grant execute on function app.page_events(text, bigint, integer, text) to fanfold_api, fanfold_admin;
