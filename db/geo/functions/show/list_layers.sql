-- The tenant's layers by name, page by page. search: a part of the name or the title.
create or replace function geo.list_layers(
  search text default null, page_rows integer default 50, cursor text default null, tenant text default null)
returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, geo, app, pg_temp
set timezone = 'UTC'
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_rows integer := app.page_rows(page_rows);
begin
  return (
    with page as (
      select l as layer, l.name
        from geo.layers l
       where l.tenant_id = v_tenant and (cursor is null or l.name > cursor collate "C")
         and (search is null or strpos(lower(l.name || ' ' || coalesce(l.title, '')), lower(search)) > 0)
       order by l.name
       limit v_rows + 1
    ),
    shown as (select * from page order by name limit v_rows)
    select jsonb_build_object(
        'layers', coalesce(jsonb_agg(geo.layer_record(s.layer, false) order by s.name), '[]'),
        'next', case when (select count(*) from page) > v_rows then max(s.name) end)
      from shown s);
end $$;
grant execute on function geo.list_layers(text, integer, text, text) to fanfold_api, fanfold_admin;
