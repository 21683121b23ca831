-- For the server: makes a tenant, or finds it made. request: {tenant_id, name?, actor?}. create_tenant is the administrator's.
create or replace function app.add_tenant(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_created boolean;
  v_tenant app.tenants;
begin
  perform app.assert_server('create tenants');
  perform app.refuse_problems('the tenant', app.tenant_problems(request ->> 'tenant_id', request ->> 'name'));
  v_created := app.create_tenant(request ->> 'tenant_id', request ->> 'name');
  select * into v_tenant from app.tenants t where t.tenant_id = request ->> 'tenant_id';
  if v_created then
    perform app.note(v_tenant.tenant_id, 'tenant.created', null, null, null, jsonb_build_object('name', v_tenant.name), request ->> 'actor');
  end if;
  return (app.tenant_record(v_tenant)::jsonb || jsonb_build_object('created', v_created))::json;
end $$;
grant execute on function app.add_tenant(json) to fanfold_api, fanfold_admin;
