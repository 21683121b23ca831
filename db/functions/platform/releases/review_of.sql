-- A request's release as a reviewer looks at it: what it is now beside what stood before it. Before is the highest earlier version that is approved
-- and ended well; where there is none, the run before of the same version; else the version before, whatever became of it.
create or replace function platform.review_of(request_id text, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, platform, app, pg_temp
as $$
declare
  v_request platform.requests := platform.find_request(app.acting_tenant(tenant), review_of.request_id);
  v_release platform.releases;
  v_before platform.requests;
  v_is text;
begin
  select * into v_release from platform.releases l
   where l.tenant_id = v_request.tenant_id and l.dataset_id = v_request.dataset_id and l.resource_id = v_request.resource_id
     and l.version_id = v_request.version_id;
  select q.* into v_before
    from platform.releases l
    join platform.requests q on q.tenant_id = l.tenant_id and q.request_id = l.request_id
   where l.tenant_id = v_release.tenant_id and l.dataset_id = v_release.dataset_id and l.resource_id = v_release.resource_id
     and l.ordinal < v_release.ordinal and l.approval = 'approved' and q.status in ('completed', 'partial_success')
   order by l.ordinal desc limit 1;
  if found then
    v_is := 'approved';
  else
    select * into v_before from platform.requests q
     where q.tenant_id = v_request.tenant_id and q.dataset_id = v_request.dataset_id and q.resource_id = v_request.resource_id
       and q.version_id = v_request.version_id and q.run < v_request.run
     order by q.run desc limit 1;
    if found then
      v_is := 'run_before';
    else
      select q.* into v_before
        from platform.releases l
        join platform.requests q on q.tenant_id = l.tenant_id and q.request_id = l.request_id
       where l.tenant_id = v_release.tenant_id and l.dataset_id = v_release.dataset_id and l.resource_id = v_release.resource_id
         and l.ordinal < v_release.ordinal
       order by l.ordinal desc limit 1;
      v_is := case when found then 'version_before' end;
    end if;
  end if;
  return jsonb_build_object(
    'request_id', v_request.request_id, 'release', case when v_release.release_id is not null then platform.release_record(v_release) end,
    'makes_it_now', coalesce(v_release.request_id = v_request.request_id, false),
    'now', platform.release_side(v_request), 'before', case when v_is is not null then platform.release_side(v_before) end, 'before_is', v_is);
end $$;
grant execute on function platform.review_of(text, text) to fanfold_api, fanfold_admin;
