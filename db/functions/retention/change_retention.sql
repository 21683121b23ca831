-- For the server: changes the rules of a tenant, or those of everybody (tenant null). request: {tenant?, rules: [{kind, type?, status?, keep_s?,
-- keep_count?, remove?}], actor?}. What is named is set, one with `remove` goes, and what is not named stays.
create or replace function app.change_retention(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := request ->> 'tenant';
  v_rules jsonb := (request -> 'rules')::jsonb;
begin
  perform app.assert_server('change how long history is kept');
  perform app.refuse_problems('the rules', app.retention_problems(v_rules));
  if v_tenant is not null and not exists (select from app.tenants t where t.tenant_id = v_tenant) then
    raise exception 'there is no tenant "%"', left(v_tenant, 80) using errcode = 'FF001', hint = 'create it', detail = app.action('tenants.create');
  end if;
  delete from app.retention_rules r
   using jsonb_to_recordset(v_rules) as g(kind text, type text, status text)
   where r.tenant_id = coalesce(v_tenant, '') and r.kind = g.kind and r.of_type = coalesce(g.type, '') and r.status = coalesce(g.status, '');
  insert into app.retention_rules (tenant_id, kind, of_type, status, keep_s, keep_count, changed_by)
  select coalesce(v_tenant, ''), g.kind, coalesce(g.type, ''), coalesce(g.status, ''), g.keep_s, g.keep_count,
      coalesce(left(request ->> 'actor', 200), session_user)
    from jsonb_to_recordset(v_rules) as g(kind text, type text, status text, keep_s double precision, keep_count integer, remove boolean)
   where g.remove is not true
  on conflict do nothing;
  perform app.note(coalesce(v_tenant, 'default'), 'tenant.retention_changed', null, null, null,
    jsonb_build_object('rules', v_rules, 'everybody', v_tenant is null), request ->> 'actor');
  -- A stricter rule is followed at once.
  update app.retention_rounds r set due_at = 'epoch' where v_tenant is null or r.tenant_id = v_tenant;
  return app.get_retention(coalesce(v_tenant, 'default'));
end $$;
grant execute on function app.change_retention(json) to fanfold_api, fanfold_admin;
