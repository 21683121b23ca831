-- A release by any id it goes by: its own (or the beginning of it, from 8 digits on), its request's, or dataset/resource[/version], of which the
-- newest counts. Never another tenant's.
create or replace function platform.find_release(tenant text, id text)
returns platform.releases
language plpgsql stable
as $$
declare
  v_release platform.releases;
  v_parts text[] := string_to_array(id, '/');
begin
  if id ~ '^[0-9a-f]{8,32}$' then
    select * into v_release from platform.releases l
     where l.tenant_id = tenant and l.release_id >= id and l.release_id < id || 'g' order by l.release_id limit 1;
    if not found then
      select l.* into v_release
        from platform.requests q
        join platform.releases l on l.tenant_id = q.tenant_id and l.dataset_id = q.dataset_id and l.resource_id = q.resource_id and l.version_id = q.version_id
       where q.tenant_id = tenant and q.request_id >= id and q.request_id < id || 'g' order by q.request_id limit 1;
    end if;
  end if;
  if v_release.release_id is null and cardinality(v_parts) in (2, 3) then
    select * into v_release from platform.releases l
     where l.tenant_id = tenant and l.dataset_id = v_parts[1] and l.resource_id = v_parts[2] and (v_parts[3] is null or l.version_id = v_parts[3])
     order by l.ordinal desc limit 1;
  end if;
  if v_release.release_id is null then
    raise exception 'there is no release "%"', left(coalesce(id, 'null'), 120)
      using errcode = 'FF001', hint = 'the id of a release or of its request, or dataset/resource[/version]; GET /api/platform/datasets lists them';
  end if;
  return v_release;
end $$;
