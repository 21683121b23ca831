-- For the server: how people call a tenant. Its id stays. request: {tenant_id, name, actor?}
create or replace function app.rename_tenant(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_before text;
  v_tenant app.tenants;
begin
  perform app.assert_server('rename tenants');
  perform app.refuse_problems('the tenant', app.tenant_problems(request ->> 'tenant_id', request ->> 'name'));
  select t.name into v_before from app.tenants t where t.tenant_id = request ->> 'tenant_id' for no key update;
  if not found then
    raise exception 'there is no tenant "%"', left(request ->> 'tenant_id', 80)
      using errcode = 'FF001', hint = 'create it', detail = app.action('tenants.create');
  end if;
  update app.tenants t set name = request ->> 'name' where t.tenant_id = request ->> 'tenant_id' returning * into v_tenant;
  perform app.note(v_tenant.tenant_id, 'tenant.renamed', null, null, null,
    jsonb_build_object('before', v_before, 'after', v_tenant.name), request ->> 'actor');
  return app.tenant_record(v_tenant);
end $$;
grant execute on function app.rename_tenant(json) to fanfold_api, fanfold_admin;
