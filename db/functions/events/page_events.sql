-- What happened to a job, in pages: `after` is the id of the last event of the page before; oldest first, or newest. `kinds` keeps
-- only these, each a kind (job.paused) or all that begin alike (stage). A page looks at 5,000 events at most, so that with kinds
-- that are rare it may be short and have a `next` all the same.
create or replace function app.page_events(
  job_id text, after bigint default null, page_rows integer default 50, tenant text default null, newest boolean default false,
  kinds json default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  c_looks_at constant integer := 5000;
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), page_events.job_id);
  v_rows integer := app.page_rows(page_rows);
  v_newest boolean := coalesce(newest, false);
  v_kinds text[] := case when kinds is not null then array(select json_array_elements_text(kinds)) end;
begin
  return (
    with looked as materialized (
      (select e.* from app.events e
        where not v_newest and e.tenant_id = v_job.tenant_id and e.job_id = v_job.job_id and e.event_id > coalesce(page_events.after, -1)
        order by e.event_id
        limit c_looks_at)
      union all
      (select e.* from app.events e
        where v_newest and e.tenant_id = v_job.tenant_id and e.job_id = v_job.job_id
          and e.event_id < coalesce(page_events.after, 9223372036854775807)
        order by e.event_id desc
        limit c_looks_at)
    ),
    fitting as (
      select l.*, case when v_newest then -l.event_id else l.event_id end as place
        from looked l
       where v_kinds is null or l.kind = any (v_kinds) or split_part(l.kind, '.', 1) = any (v_kinds)
    ),
    shown as (select * from fitting order by place limit v_rows)
    select json_build_object('job_id', v_job.job_id,
      'events', coalesce(json_agg(json_build_object('event_id', e.event_id, 'at', e.at, 'kind', e.kind, 'actor', e.actor,
        'stage_id', e.stage_id, 'reason', e.reason, 'data', e.data) order by e.place), '[]'),
      'next', case
        when (select count(*) from fitting) > v_rows then abs(max(e.place))::text
        when (select count(*) from looked) = c_looks_at then (
          select case when v_newest then min(l.event_id) else max(l.event_id) end from looked l)::text
      end)
    from shown e);
end $$;
grant execute on function app.page_events(text, bigint, integer, text, boolean, json) to fanfold_api, fanfold_admin;
