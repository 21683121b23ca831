-- A request by any id it goes by: its own or its release's (or the beginning of it, from 8 digits on), a job's of it, dataset/resource[/version],
-- of which the newest counts, or an item's of the catalogue that it made. Never another tenant's.
create or replace function platform.find_request(tenant text, id text)
returns platform.requests
language plpgsql stable
as $$
declare
  v_request platform.requests;
  v_parts text[];
begin
  if id ~ '^[0-9a-f]{8,32}$' then
    select * into v_request from platform.requests r
     where r.tenant_id = tenant and r.request_id >= id and r.request_id < id || 'g' order by r.request_id limit 1;
    if found then
      return v_request;
    end if;
    select r.* into v_request
      from platform.releases l
      join platform.requests r on r.tenant_id = l.tenant_id and r.request_id = l.request_id
     where l.tenant_id = tenant and l.release_id >= id and l.release_id < id || 'g' order by l.release_id limit 1;
    if found then
      return v_request;
    end if;
  end if;
  if id ~ '^[0-9a-f]{8,64}$' then
    select r.* into v_request
      from app.jobs j
      join platform.requests r on r.tenant_id = j.tenant_id and r.request_id = j.request_id
     where j.tenant_id = tenant and j.job_id >= id and j.job_id < id || 'g' order by j.job_id limit 1;
    if found then
      return v_request;
    end if;
  end if;
  v_parts := string_to_array(id, '/');
  if cardinality(v_parts) in (2, 3) then
    select * into v_request from platform.requests r
     where r.tenant_id = tenant and r.dataset_id = v_parts[1] and r.resource_id = v_parts[2] and (v_parts[3] is null or r.version_id = v_parts[3])
     order by r.created_at desc, r.run desc limit 1;
    if found then
      return v_request;
    end if;
  end if;
  v_request := platform.request_of_item(tenant, id);
  if v_request.request_id is not null then
    return v_request;
  end if;
  raise exception 'there is no request "%"', left(coalesce(id, 'null'), 120)
    using errcode = 'FF001', hint = 'the id of a request, of its release, of a job or an item of it, or dataset/resource[/version]; list them', detail = app.action('requests.list');
end $$;
