-- Requests of the tenant, newest first, by keyset: `cursor` is the `next` of the page before.
create or replace function platform.list_requests(
  status text default null, dataset_id text default null, resource_id text default null, data_type text default null, client_id text default null,
  page_rows integer default 50, cursor text default null, tenant text default null, search text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, platform, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_rows integer := app.page_rows(page_rows);
  v_last record := app.time_cursor(cursor, '-[0-9a-f]{32}');
begin
  return (
    with page as (
      select r.*
        from platform.requests r
       where r.tenant_id = v_tenant
         and r.created_at <= v_last.at and (r.created_at < v_last.at or r.request_id > v_last.id)
         and (list_requests.status is null or r.status = any (string_to_array(list_requests.status, ',')))
         and (list_requests.dataset_id is null or r.dataset_id = list_requests.dataset_id)
         and (list_requests.resource_id is null or r.resource_id = list_requests.resource_id)
         and (list_requests.data_type is null or r.data_type = list_requests.data_type)
         and (list_requests.client_id is null or r.metadata ->> 'client_id' = list_requests.client_id)
         and (list_requests.search is null
           or strpos(lower(r.dataset_id || '/' || r.resource_id || '/' || r.version_id), lower(list_requests.search)) > 0
           or starts_with(r.request_id, lower(list_requests.search)))
       order by r.created_at desc, r.request_id
       limit v_rows + 1
    ),
    shown as (select * from page order by created_at desc, request_id limit v_rows)
    select json_build_object(
      'requests', coalesce((
        select json_agg(platform.request_record(q) order by q.created_at desc, q.request_id)
          from shown s join platform.requests q on q.tenant_id = s.tenant_id and q.request_id = s.request_id), '[]'),
      'next', case when (select count(*) from page) > v_rows then (
        select (extract(epoch from l.created_at) * 1000000)::bigint || '-' || l.request_id
          from shown l order by l.created_at, l.request_id desc limit 1) end));
end $$;
grant execute on function platform.list_requests(text, text, text, text, text, integer, text, text, text) to fanfold_api, fanfold_admin;
