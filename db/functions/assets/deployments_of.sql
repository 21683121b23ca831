-- The deployments whose tasks have made files of a tenant: this one, and those that the tenant lived in before.
create or replace function app.deployments_of(tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant constant text := app.acting_tenant(tenant);
begin
  return (
    select json_agg(d.deployment)
      from (
        select app.deployment_id() as deployment
        union
        select o.deployment from app.tenant_origins o where o.tenant_id = v_tenant
      ) d);
end $$;
grant execute on function app.deployments_of(text) to fanfold_api, fanfold_worker, fanfold_admin;
