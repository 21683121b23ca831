-- Resources of datasets with their newest and their latest release, by name, by keyset: `cursor` is the `next` of the page before.
create or replace function platform.list_datasets(
  dataset_id text default null, approval text default null, page_rows integer default 50, cursor text default null, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, platform, app, pg_temp
as $$
declare
  v_tenant constant text := app.acting_tenant(tenant);
  v_rows constant integer := app.page_rows(page_rows);
  v_after json;
begin
  perform app.assert_cursor(cursor, '^[A-Za-z0-9_-]+$');
  begin
    v_after := convert_from(decode(translate(cursor, '-_', '+/') || repeat('=', (4 - length(cursor) % 4) % 4), 'base64'), 'UTF8')::json;
  exception
    when others then
      raise exception 'the cursor is none of ours' using errcode = 'FF002', hint = 'pass `next` of the page before, unchanged';
  end;
  return (
    with page as (
      select a.dataset_id, a.resource_id, n.release as newest, (select count(*) from platform.releases c where c.tenant_id = v_tenant and c.dataset_id = a.dataset_id and c.resource_id = a.resource_id) as releases
        from platform.assets a
        cross join lateral (
          select l as release from platform.releases l
           where l.tenant_id = v_tenant and l.dataset_id = a.dataset_id and l.resource_id = a.resource_id order by l.ordinal desc limit 1) n
       where a.tenant_id = v_tenant
         and (list_datasets.dataset_id is null or a.dataset_id = list_datasets.dataset_id)
         and (v_after is null or (a.dataset_id, a.resource_id) > (v_after ->> 0, v_after ->> 1))
         and (list_datasets.approval is null or (n.release).approval = list_datasets.approval)
       order by a.dataset_id, a.resource_id
       limit v_rows + 1
    ),
    shown as (select * from page order by dataset_id, resource_id limit v_rows)
    select json_build_object(
      'datasets', coalesce((
        select json_agg(json_build_object('dataset_id', s.dataset_id, 'resource_id', s.resource_id, 'releases', s.releases,
            'newest', platform.release_record(s.newest), 'latest', case when (l.latest).release_id is not null then platform.release_record(l.latest) end)
            order by s.dataset_id, s.resource_id)
          from shown s cross join lateral (select platform.latest_release(v_tenant, s.dataset_id, s.resource_id) as latest) l), '[]'),
      'next', case when (select count(*) from page) > v_rows then (
        select translate(encode(convert_to(json_build_array(l.dataset_id, l.resource_id)::text, 'UTF8'), 'base64'), E'+/=\n', '-_')
          from shown l order by l.dataset_id desc, l.resource_id desc limit 1) end));
end $$;
grant execute on function platform.list_datasets(text, text, integer, text, text) to fanfold_api, fanfold_admin;
