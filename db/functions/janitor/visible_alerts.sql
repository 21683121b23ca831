-- The alerts that the caller may hear of: a worker that serves one tenant only those of its tenant.
create or replace function app.visible_alerts(alerts jsonb)
returns jsonb
language plpgsql stable
as $$
declare
  v_tenant text := app.worker_tenant();
begin
  if v_tenant is null or alerts = '[]' then
    return alerts;
  end if;
  return (select coalesce(jsonb_agg(a), '[]') from jsonb_array_elements(alerts) a where a ->> 'tenant_id' = v_tenant);
end $$;
