-- A tenant's files by zone and key: all, those whose keys begin with a prefix, or those of a job. Keyset: `after` is the `next` of the
-- page before, [zone, key].
-- request: {tenant?, zone?, prefix?, job_id?, rows?, after?}
create or replace function app.list_assets(request json)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_rows integer := app.page_rows((request ->> 'rows')::integer);
  v_zone text := request ->> 'zone';
  v_prefix text := coalesce(request ->> 'prefix', '');
  v_job text := request ->> 'job_id';
  v_after_zone text := coalesce(request -> 'after' ->> 0, '');
  v_after_key text := coalesce(request -> 'after' ->> 1, '');
begin
  -- With a zone and a prefix the first row of the page is known, and the index leads there.
  if v_zone is not null and (v_after_zone, v_after_key) < (v_zone, v_prefix) then
    v_after_zone := v_zone;
    v_after_key := v_prefix;
  end if;
  return (
    with page as (
      select a.*
        from app.assets a
       where a.tenant_id = v_tenant and a.retracted_at is null
         and (a.zone, a.key) >= (v_after_zone collate "C", v_after_key collate "C")
         and (request -> 'after' ->> 1 is null or (a.zone, a.key) <> (request -> 'after' ->> 0, request -> 'after' ->> 1))
         and (v_zone is null or a.zone = v_zone)
         and starts_with(a.key, v_prefix)
         and (v_job is null or a.job_id = v_job)
       order by a.zone, a.key
       limit v_rows + 1
    ),
    shown as (select * from page order by zone, key limit v_rows)
    select json_build_object(
      'assets', coalesce((
        select json_agg(app.asset_record(a) order by a.zone, a.key)
          from shown s join app.assets a on a.tenant_id = v_tenant and a.zone = s.zone and a.key = s.key), '[]'),
      'next', case when (select count(*) from page) > v_rows then (
        select json_build_array(l.zone, l.key) from shown l order by l.zone desc, l.key desc limit 1) end));
end $$;
grant execute on function app.list_assets(json) to fanfold_api, fanfold_worker, fanfold_admin;
