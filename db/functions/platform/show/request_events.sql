-- What happened to a request, newest first: its own events, those of its release, and how its jobs were submitted, repaired and ended. `cursor` is
-- the `next` of the page before: the id of its last event.
create or replace function platform.request_events(
  request_id text, page_rows integer default 50, cursor text default null, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, platform, app, pg_temp
as $$
declare
  v_request platform.requests := platform.find_request(app.acting_tenant(tenant), request_events.request_id);
  v_rows constant integer := app.page_rows(page_rows);
  v_before bigint;
begin
  perform app.assert_cursor(cursor, '^\d{1,18}$');
  v_before := coalesce(cursor::bigint, 9223372036854775807);
  return (
    with found as (
      (select e.* from app.events e
        where e.tenant_id = v_request.tenant_id and e.request_id = v_request.request_id and e.event_id < v_before
        order by e.event_id desc
        limit v_rows + 1)
      union all
      (select l.*
        from app.jobs j
        cross join lateral (
          select e.* from app.events e
           where e.tenant_id = j.tenant_id and e.job_id = j.job_id and e.event_id < v_before and e.kind like 'job.%'
           order by e.event_id desc
           limit v_rows + 1) l
       where j.tenant_id = v_request.tenant_id and j.request_id = v_request.request_id)
    ),
    shown as (select * from found order by event_id desc limit v_rows)
    select json_build_object('request_id', v_request.request_id,
      'events', coalesce(json_agg(json_build_object('event_id', s.event_id, 'at', s.at, 'kind', s.kind, 'actor', s.actor, 'job_id', s.job_id,
        'job', (
          select r.name from platform.request_jobs r
           where r.tenant_id = v_request.tenant_id and r.request_id = v_request.request_id
             and (r.job_id = s.job_id or s.job_id = any (r.superseded)) limit 1),
        'reason', s.reason, 'data', s.data - array['request_id', 'dataset_id', 'resource_id', 'version_id']) order by s.event_id desc), '[]'),
      'next', case when (select count(*) from found) > v_rows then min(s.event_id)::text end)
      from shown s);
end $$;
grant execute on function platform.request_events(text, integer, text, text) to fanfold_api, fanfold_admin;
