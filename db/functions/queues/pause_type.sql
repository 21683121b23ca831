-- No task of the type is claimed for this tenant until it is continued. What runs may finish.
create or replace function app.pause_type(
  task_type text, reason text default null, dry_run boolean default false, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_queued bigint;
  v_new boolean := false;
  v_paused boolean;
begin
  if coalesce(pause_type.task_type, '') !~ '^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$' then
    raise exception '"%" is not a task type', left(coalesce(pause_type.task_type, 'null'), 80) using errcode = 'FF002', hint = 'dotted lower-case names such as raster.cog';
  end if;
  select coalesce(sum(r.hi - r.lo), 0) into v_queued from app.ready r where r.tenant_id = v_tenant and r.task_type = pause_type.task_type;
  if dry_run is not true then
    insert into app.paused_types (tenant_id, task_type, paused_by, reason)
    values (v_tenant, pause_type.task_type, coalesce(left(actor, 200), session_user), left(pause_type.reason, 1000))
    on conflict do nothing;
    v_new := found;
    if v_new then
      perform app.note(v_tenant, 'type.paused', null, null, pause_type.reason,
        jsonb_build_object('task_type', pause_type.task_type, 'queued', v_queued), actor);
    end if;
  end if;
  v_paused := exists (select from app.paused_types p where p.tenant_id = v_tenant and p.task_type = pause_type.task_type);
  return json_build_object('task_type', pause_type.task_type, 'paused', v_paused, 'queued', v_queued,
    'dry_run', coalesce(dry_run, false), 'changed', v_new);
end $$;
grant execute on function app.pause_type(text, text, boolean, text, text) to fanfold_api, fanfold_admin;
