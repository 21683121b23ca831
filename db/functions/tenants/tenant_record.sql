create or replace function app.tenant_record(tenant app.tenants)
returns json
language plpgsql stable
as $$
begin
  return json_build_object('tenant_id', tenant.tenant_id, 'name', tenant.name, 'created_at', tenant.created_at);
end $$;
