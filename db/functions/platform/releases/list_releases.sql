-- The releases of one resource, newest first, with who decided what about each.
create or replace function platform.list_releases(dataset_id text, resource_id text, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, platform, app, pg_temp
as $$
declare
  v_tenant constant text := app.acting_tenant(tenant);
begin
  if not exists (
    select from platform.assets a
     where a.tenant_id = v_tenant and a.dataset_id = list_releases.dataset_id and a.resource_id = list_releases.resource_id) then
    raise exception 'there is no resource "%" of a dataset "%"', left(resource_id, 80), left(dataset_id, 80)
      using errcode = 'FF001', hint = 'GET /api/platform/datasets lists them';
  end if;
  return json_build_object('dataset_id', dataset_id, 'resource_id', resource_id, 'releases', (
    select json_agg(r.release order by r.ordinal desc)
      from (
        select l.ordinal, (platform.release_record(l)::jsonb || jsonb_build_object('decisions', coalesce((
            select jsonb_agg(jsonb_build_object('decision', substr(e.kind, 9), 'by', e.actor, 'at', e.at, 'reason', e.reason,
                'clearance', e.data ->> 'clearance', 'revision', e.data -> 'revision') order by e.event_id)
              from app.events e
             where e.tenant_id = v_tenant and e.kind like 'release.%' and e.data ->> 'release_id' = l.release_id
               and e.request_id in (
                 select q.request_id from platform.requests q
                  where q.tenant_id = v_tenant and q.dataset_id = l.dataset_id and q.resource_id = l.resource_id and q.version_id = l.version_id)), '[]'))) as release
          from platform.releases l
         where l.tenant_id = v_tenant and l.dataset_id = list_releases.dataset_id and l.resource_id = list_releases.resource_id
         order by l.ordinal desc
         limit 1000) r));
end $$;
grant execute on function platform.list_releases(text, text, text) to fanfold_api, fanfold_admin;
