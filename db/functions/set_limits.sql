-- Sets what a tenant may use at most; null: no limit.
create or replace function app.set_limits(tenant text, concurrent_tasks integer)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  if not app.is_server() then
    raise exception 'only an administrator sets limits' using errcode = 'FF005';
  end if;
  if concurrent_tasks <= 0 then
    raise exception 'concurrent_tasks must be 1 or more, not %', concurrent_tasks using errcode = 'FF002', hint = 'null lifts the limit';
  end if;
  if not exists (select from app.tenants t where t.tenant_id = tenant) then
    raise exception 'there is no tenant "%"', left(tenant, 80) using errcode = 'FF001';
  end if;
  insert into app.limits (tenant_id, concurrent_tasks) values (tenant, set_limits.concurrent_tasks)
  on conflict (tenant_id) do update set concurrent_tasks = excluded.concurrent_tasks;
  perform app.note(tenant, 'tenant.limited', null, null, null, jsonb_build_object('concurrent_tasks', set_limits.concurrent_tasks));
  return json_build_object('tenant_id', tenant, 'concurrent_tasks', set_limits.concurrent_tasks);
end $$;
grant execute on function app.set_limits(text, integer) to fanfold_admin;
