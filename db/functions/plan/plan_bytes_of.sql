-- What the tasks of one data plan of a tenant may come to.
create or replace function app.plan_bytes_of(tenant text)
returns bigint
language sql stable
as $$
  select coalesce((select l.plan_bytes from app.limits l where l.tenant_id = tenant), 67108864)
$$;
