-- Groups of the tenant, newest first, by keyset: `cursor` is the `next` of the page before.
create or replace function app.list_groups(
  status text default null, page_rows integer default 50, cursor text default null, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_rows integer := app.page_rows(page_rows);
  v_last record := app.time_cursor(cursor, '-.{1,100}');
begin
  return (
    with page as (
      select g.*
        from app.job_groups g
       where g.tenant_id = v_tenant
         and g.created_at <= v_last.at and (g.created_at < v_last.at or g.group_id > v_last.id)
         and (list_groups.status is null or g.status = list_groups.status)
       order by g.created_at desc, g.group_id
       limit v_rows + 1
    ),
    shown as (select * from page order by created_at desc, group_id limit v_rows)
    select json_build_object(
      'groups', coalesce(json_agg(app.group_record(app.find_group(v_tenant, s.group_id)) order by s.created_at desc, s.group_id), '[]'),
      'next', case when (select count(*) from page) > v_rows then (
        select (extract(epoch from l.created_at) * 1000000)::bigint || '-' || l.group_id
          from shown l order by l.created_at, l.group_id desc limit 1) end)
    from shown s);
end $$;
grant execute on function app.list_groups(text, integer, text, text) to fanfold_api, fanfold_admin;
