-- The latest release of a resource: of those that are approved and whose request ended well, the one with the highest ordinal. Null: none.
create or replace function platform.latest_release(tenant text, dataset text, resource text)
returns platform.releases
language plpgsql stable
as $$
declare
  v_release platform.releases;
begin
  select l.* into v_release
    from platform.releases l
    join platform.requests q on q.tenant_id = l.tenant_id and q.request_id = l.request_id
   where l.tenant_id = tenant and l.dataset_id = dataset and l.resource_id = resource and l.approval = 'approved'
     and q.status in ('completed', 'partial_success')
   order by l.ordinal desc
   limit 1;
  return v_release;
end $$;
