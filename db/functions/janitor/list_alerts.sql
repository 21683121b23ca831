-- The tenant's alerts, newest first, in pages: `before` is the `next` of the page before.
create or replace function app.list_alerts(page_rows integer default 50, tenant text default null, before bigint default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_rows integer := app.page_rows(page_rows);
begin
  return (
    with page as (
      select t.*, row_number() over (order by t.event_id desc) as place
        from (
          select * from app.alerts a
           where a.tenant_id = v_tenant and a.event_id < coalesce(before, 9223372036854775807)
           order by a.event_id desc
           limit v_rows + 1
        ) t
    )
    select json_build_object(
        'alerts', coalesce(json_agg(json_build_object('event_id', a.event_id, 'at', a.at, 'alert', a.alert, 'reason', a.reason,
          'tenant_id', a.tenant_id, 'job_id', a.job_id, 'stage_id', a.stage_id, 'actor', a.actor, 'data', a.data) order by a.event_id desc)
          filter (where a.place <= v_rows), '[]'),
        'next', case when count(*) > v_rows then (min(a.event_id) filter (where a.place <= v_rows))::text end)
      from page a);
end $$;
grant execute on function app.list_alerts(integer, text, bigint) to fanfold_api, fanfold_admin;
