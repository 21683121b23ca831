-- For the server: tenants by id, by keyset: `cursor` is the `next` of the page before.
create or replace function app.list_tenants(page_rows integer default 50, cursor text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_rows integer := app.page_rows(page_rows);
begin
  perform app.assert_server('list tenants');
  perform app.assert_cursor(cursor, '^[a-z0-9][a-z0-9_-]{0,62}$');
  return (
    with page as (
      select t.tenant_id from app.tenants t where t.tenant_id > coalesce(cursor, '') order by t.tenant_id limit v_rows + 1
    ),
    shown as (select p.tenant_id from page p order by p.tenant_id limit v_rows)
    select json_build_object(
      'tenants', coalesce((
        select json_agg(app.tenant_record(t) order by t.tenant_id) from shown s join app.tenants t on t.tenant_id = s.tenant_id), '[]'),
      'next', case when (select count(*) from page) > v_rows then (select max(s.tenant_id) from shown s) end));
end $$;
grant execute on function app.list_tenants(integer, text) to fanfold_api, fanfold_admin;
