-- Uploads of the tenant, newest first, by keyset: `cursor` is the `next` of the page before.
create or replace function app.list_uploads(
  state text default null, prefix text default null, page_rows integer default 50, cursor text default null, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_rows integer := app.page_rows(page_rows);
  v_last record := app.time_cursor(cursor, '-[0-9a-f-]{36}');
begin
  return (
    with page as (
      select u.*
        from app.uploads u
       where u.tenant_id = v_tenant
         and u.created_at <= v_last.at and (u.created_at < v_last.at or u.upload_id::text > v_last.id)
         and (list_uploads.state is null or u.state = list_uploads.state)
         and (list_uploads.prefix is null or starts_with(u.key, list_uploads.prefix))
       order by u.created_at desc, u.upload_id
       limit v_rows + 1
    ),
    shown as (select * from page order by created_at desc, upload_id limit v_rows)
    select json_build_object(
      'uploads', coalesce((
        select json_agg(app.upload_record(u) order by u.created_at desc, u.upload_id)
          from shown s join app.uploads u on u.tenant_id = v_tenant and u.upload_id = s.upload_id), '[]'),
      'next', case when (select count(*) from page) > v_rows then (
        select (extract(epoch from l.created_at) * 1000000)::bigint || '-' || l.upload_id
          from shown l order by l.created_at, l.upload_id desc limit 1) end));
end $$;
grant execute on function app.list_uploads(text, text, integer, text, text) to fanfold_api, fanfold_admin;
