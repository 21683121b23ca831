-- The rules that hold for a tenant, the first that fits before the others, and what they would let go now.
create or replace function app.get_retention(tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return json_build_object(
    'tenant_id', v_tenant,
    'rules', (
      select coalesce(json_agg(json_build_object('kind', r.kind, 'type', nullif(r.of_type, ''), 'status', nullif(r.status, ''), 'keep_s', r.keep_s,
          'keep_count', r.keep_count, 'set_for', case r.rank when 1 then 'tenant' when 2 then 'everybody' end, 'changed_at', r.changed_at,
          'changed_by', r.changed_by) order by r.kind, r.rank, r.of_type <> '' desc, r.status <> '' desc, r.of_type, r.status), '[]')
        from app.retention_of(v_tenant) r),
    'going', app.what_would_go(v_tenant),
    'removed', (
      select coalesce(json_agg(json_build_object('kind', r.kind, 'removed', r.removed, 'last_removed_at', r.last_removed_at) order by r.kind), '[]')
        from app.retention_rounds r where r.tenant_id = v_tenant and r.removed > 0),
    'rows_left', (select coalesce(sum(s.hi - greatest(s.lo, 0)), 0) from app.removed_stages s where s.tenant_id = v_tenant));
end $$;
grant execute on function app.get_retention(text) to fanfold_api, fanfold_admin;
