-- The request that made an item of the catalogue, by the item's id; of several collections that have such a one the newest request. Which
-- catalogue there is, the database tells.
create or replace function platform.request_of_item(tenant text, item text)
returns platform.requests
language plpgsql stable
as $$
declare
  v_jobs text[] := '{}'::text[];
  v_more text[];
  v_request platform.requests;
begin
  if to_regclass('stac.items') is not null then
    execute 'select array(select i.content #>> ''{properties,fanfold:job_id}'' from stac.items i where i.tenant_id = $1 and i.id = $2 limit 100)'
      into v_jobs using tenant, item;
  end if;
  if to_regproc('stac.pgstac_is_of') is not null then
    execute 'select array(select i.content #>> ''{properties,fanfold:job_id}'' from pgstac.items i '
      'where i.id = $2 and stac.pgstac_is_of(i.collection, $1) limit 100)' into v_more using tenant, item;
  end if;
  select r.* into v_request
    from app.jobs j
    join platform.requests r on r.tenant_id = j.tenant_id and r.request_id = j.request_id
   where j.tenant_id = tenant and j.job_id = any (v_jobs || v_more)
   order by r.created_at desc limit 1;
  return v_request;
end $$;
