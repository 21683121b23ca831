-- Schedules of the tenant by name, by keyset: `cursor` is the `next` of the page before.
create or replace function app.list_schedules(page_rows integer default 50, cursor text default null, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_rows integer := app.page_rows(page_rows);
begin
  return (
    with page as (
      select s.name from app.schedules s
       where s.tenant_id = v_tenant and s.name > coalesce(cursor, '')
       order by s.name
       limit v_rows + 1
    ),
    shown as (select p.name from page p order by p.name limit v_rows)
    select json_build_object(
      'schedules', coalesce(json_agg(app.schedule_record(app.find_schedule(v_tenant, s.name)) order by s.name), '[]'),
      'next', case when (select count(*) from page) > v_rows then max(s.name) end)
    from shown s);
end $$;
grant execute on function app.list_schedules(integer, text, text) to fanfold_api, fanfold_admin;
