-- No job joins the group any more: it ends when all it has have ended, perhaps now. Whoever is adding to it or ending jobs of it at
-- this moment is waited for; from here on their ends are counted.
create or replace function app.seal_group(group_id text, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_group app.job_groups := app.find_group(v_tenant, seal_group.group_id);
  v_changed boolean;
begin
  select * into v_group from app.job_groups g where g.tenant_id = v_tenant and g.group_id = v_group.group_id for update;
  v_changed := v_group.sealed_at is null;
  if v_changed then
    if v_group.expected is null then
      v_group := app.count_group(v_group);
    end if;
    update app.job_groups g
       set sealed_at = now(), sealed_by = coalesce(left(actor, 200), session_user), total = v_group.total, completed = v_group.completed,
           partial_success = v_group.partial_success, failed = v_group.failed, cancelled = v_group.cancelled
     where g.tenant_id = v_tenant and g.group_id = v_group.group_id
    returning * into v_group;
    perform app.note(v_tenant, 'group.sealed', null, null, null,
      jsonb_build_object('group_id', v_group.group_id, 'total', v_group.total), actor);
    perform app.end_group(v_group);
  end if;
  return json_build_object('changed', v_changed, 'group', app.group_record(app.find_group(v_tenant, v_group.group_id)));
end $$;
grant execute on function app.seal_group(text, text, text) to fanfold_api, fanfold_admin;
