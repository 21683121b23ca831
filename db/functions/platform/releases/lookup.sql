-- What there is to be had of a resource: the release that was named, or the latest. Found or not is told, and why not.
create or replace function platform.lookup(dataset_id text, resource_id text, version_id text default null, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, platform, app, pg_temp
as $$
declare
  v_tenant constant text := app.acting_tenant(tenant);
  v_release platform.releases;
  v_newest platform.releases;
  v_found boolean;
begin
  if version_id is null then
    v_release := platform.latest_release(v_tenant, dataset_id, resource_id);
  else
    select * into v_release from platform.releases l
     where l.tenant_id = v_tenant and l.dataset_id = lookup.dataset_id and l.resource_id = lookup.resource_id and l.version_id = lookup.version_id;
  end if;
  select * into v_newest from platform.releases l
   where l.tenant_id = v_tenant and l.dataset_id = lookup.dataset_id and l.resource_id = lookup.resource_id order by l.ordinal desc limit 1;
  v_found := coalesce(v_release.approval = 'approved' and (
    select q.status in ('completed', 'partial_success') from platform.requests q where q.tenant_id = v_tenant and q.request_id = v_release.request_id), false);
  return json_build_object(
    'found', v_found,
    'why', case
      when v_found then null
      when v_newest.release_id is null then 'there is no such resource of a dataset'
      when v_release.release_id is null and version_id is not null then 'there is no such version'
      when v_release.release_id is null then format('none of its versions is approved; the newest, %s, is %s', v_newest.version_id, v_newest.approval)
      when v_release.approval = 'approved' then 'it has not been published yet'
      else 'it is ' || v_release.approval end,
    'release', case when v_release.release_id is not null then platform.release_record(v_release) end,
    'result_data', case when v_found then (select q.result_data from platform.requests q where q.tenant_id = v_tenant and q.request_id = v_release.request_id) end);
end $$;
grant execute on function platform.lookup(text, text, text, text) to fanfold_api, fanfold_admin;
