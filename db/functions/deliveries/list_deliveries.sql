-- Deliveries, newest first, by keyset: `cursor` is the `next` of the page before.
create or replace function app.list_deliveries(
  endpoint_id text default null, job_id text default null, status text default null, page_rows integer default 50,
  cursor text default null, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
-- Planned for the filters that are given: each has its index.
set plan_cache_mode = force_custom_plan
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_rows integer := app.page_rows(page_rows);
  v_job text;
begin
  if list_deliveries.status is not null and list_deliveries.status not in ('pending', 'delivered', 'failed', 'discarded') then
    raise exception '"%" is not a status of deliveries', left(list_deliveries.status, 40)
      using errcode = 'FF002', hint = 'pending, delivered, failed or discarded';
  end if;
  perform app.assert_cursor(cursor, '^msg_[a-z0-9]{20,60}$');
  if list_deliveries.job_id is not null then
    v_job := (app.find_job(v_tenant, list_deliveries.job_id)).job_id;
  end if;
  return (
    with page as (
      select d.*
        from app.webhook_deliveries d
       where d.tenant_id = v_tenant and d.delivery_id < coalesce(cursor, 'n')
         and (list_deliveries.endpoint_id is null or d.endpoint_id = list_deliveries.endpoint_id)
         and (v_job is null or d.job_id = v_job)
         and (list_deliveries.status is null or d.status = list_deliveries.status)
       order by d.delivery_id desc
       limit v_rows + 1
    ),
    shown as (select * from page order by delivery_id desc limit v_rows)
    select json_build_object(
      'deliveries', coalesce(json_agg(app.delivery_record((select d from app.webhook_deliveries d where d.tenant_id = v_tenant and d.delivery_id = s.delivery_id)) order by s.delivery_id desc), '[]'),
      'next', case when (select count(*) from page) > v_rows then min(s.delivery_id) end)
    from shown s);
end $$;
grant execute on function app.list_deliveries(text, text, text, integer, text, text) to fanfold_api, fanfold_admin;
