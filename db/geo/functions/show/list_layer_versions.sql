-- What a layer was, newest first, also of one that is not served any more: before a version where one is given. Of the columns it tells which
-- came, went and changed their type since the version before.
create or replace function geo.list_layer_versions(
  layer_id text, before bigint default null, page_rows integer default 50, tenant text default null)
returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, geo, app, pg_temp
set timezone = 'UTC'
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_rows integer := app.page_rows(page_rows);
  v_reply jsonb;
begin
  select jsonb_build_object(
      'versions', coalesce(jsonb_agg(jsonb_build_object(
        'version', s.version, 'mode', s.mode, 'feature_count', s.feature_count, 'rejected_count', s.rejected_count,
        'extent', to_jsonb(s.extent), 'geometry_type', s.geometry_type, 'srid', s.srid, 'column_count', jsonb_array_length(s.columns),
        'columns_added', geo.column_names(s.columns, s.columns_then, false), 'columns_removed', geo.column_names(s.columns_then, s.columns, false),
        'columns_changed', geo.column_names(s.columns, s.columns_then, true),
        'release', s.release, 'job_id', s.job_id, 'readable', s.table_name is not null, 'created_at', s.created_at, 'retired_at', s.retired_at)
        order by s.version desc) filter (where s.at <= v_rows), '[]'),
      'next', case when count(*) > v_rows then min(s.version) filter (where s.at <= v_rows) end)
    into v_reply
    from (
      select v.*, row_number() over (order by v.version desc) as at,
          (select o.columns from geo.layer_versions o
            where o.tenant_id = v.tenant_id and o.name = v.name and o.version < v.version order by o.version desc limit 1) as columns_then
        from geo.layer_versions v
       where v.tenant_id = v_tenant and v.name = layer_id and (before is null or v.version < before)
       order by v.version desc
       limit v_rows + 1
    ) s;
  if v_reply -> 'versions' = '[]' then
    perform geo.check_known(v_tenant, layer_id);
  end if;
  return v_reply;
end $$;
grant execute on function geo.list_layer_versions(text, bigint, integer, text) to fanfold_api, fanfold_admin;
