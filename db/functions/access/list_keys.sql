-- Keys of the tenant, newest first, by keyset: `cursor` is the `next` of the page before.
create or replace function app.list_keys(page_rows integer default 50, cursor text default null, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_rows integer := app.page_rows(page_rows);
  v_last record := app.time_cursor(cursor, '-[a-z0-9]{12}');
begin
  return (
    with page as (
      select k.*
        from app.api_keys k
       where k.tenant_id = v_tenant and (k.created_at, k.key_id) < (v_last.at, v_last.id)
       order by k.created_at desc, k.key_id desc
       limit v_rows + 1
    ),
    shown as (select * from page order by created_at desc, key_id desc limit v_rows)
    select json_build_object(
      'keys', coalesce((
        select json_agg(app.key_record(k) order by k.created_at desc, k.key_id desc)
          from shown s join app.api_keys k on k.key_id = s.key_id), '[]'),
      'next', case when (select count(*) from page) > v_rows then (
        select (extract(epoch from l.created_at) * 1000000)::bigint || '-' || l.key_id
          from shown l order by l.created_at, l.key_id limit 1) end));
end $$;
grant execute on function app.list_keys(integer, text, text) to fanfold_api, fanfold_admin;
