-- The tenant's alerts, newest first.
create or replace function app.list_alerts(page_rows integer default 50, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_rows integer := coalesce(page_rows, 50);
begin
  if v_rows not between 1 and 1000 then
    raise exception 'a page has 1 to 1000 rows, not %', v_rows using errcode = 'FF002';
  end if;
  return (
    select coalesce(json_agg(json_build_object('event_id', a.event_id, 'at', a.at, 'alert', a.alert, 'reason', a.reason,
        'tenant_id', a.tenant_id, 'job_id', a.job_id, 'stage_id', a.stage_id, 'actor', a.actor, 'data', a.data) order by a.event_id desc), '[]')
      from (select * from app.alerts t where t.tenant_id = v_tenant order by t.event_id desc limit v_rows) a);
end $$;
grant execute on function app.list_alerts(integer, text) to fanfold_api, fanfold_admin;
