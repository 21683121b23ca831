-- The request that made an item of the catalogue, by the item's id; of several collections that have such a one the newest request. Which
-- catalogues there are, the database tells.
create or replace function platform.request_of_item(tenant text, item text)
returns platform.requests
language plpgsql stable
as $$
declare
  v_source record;
  v_found text[];
  v_jobs text[] := '{}'::text[];
  v_request platform.requests;
begin
  for v_source in
    select s.name, s.theirs
      from (values ('stac', 'i.tenant_id = $1'), ('pgstac', 'stac.pgstac_is_of(i.collection, $1)')) as s(name, theirs)
     where to_regclass(s.name || '.items') is not null and (s.name = 'stac' or to_regproc('stac.pgstac_is_of') is not null)
  loop
    execute format('select array(select i.content #>> ''{properties,fanfold:job_id}'' from %I.items i where %s and i.id = $2 limit 100)',
        v_source.name, v_source.theirs)
      into v_found using tenant, item;
    v_jobs := v_jobs || v_found;
  end loop;
  select r.* into v_request
    from app.jobs j
    join platform.requests r on r.tenant_id = j.tenant_id and r.request_id = j.request_id
   where j.tenant_id = tenant and j.job_id = any (v_jobs)
   order by r.created_at desc limit 1;
  return v_request;
end $$;
