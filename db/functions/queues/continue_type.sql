-- Tasks of the type may be claimed again.
create or replace function app.continue_type(
  task_type text, reason text default null, dry_run boolean default false, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_queued bigint;
  v_was boolean := false;
  v_paused boolean;
begin
  select coalesce(sum(r.hi - r.lo), 0) into v_queued from app.ready r where r.tenant_id = v_tenant and r.task_type = continue_type.task_type;
  if dry_run is not true then
    delete from app.paused_types p where p.tenant_id = v_tenant and p.task_type = continue_type.task_type;
    v_was := found;
    if v_was then
      perform app.note(v_tenant, 'type.continued', null, null, continue_type.reason,
        jsonb_build_object('task_type', continue_type.task_type, 'queued', v_queued), actor);
      perform app.wake(array[continue_type.task_type]);
    end if;
  end if;
  v_paused := exists (select from app.paused_types p where p.tenant_id = v_tenant and p.task_type = continue_type.task_type);
  return json_build_object('task_type', continue_type.task_type, 'paused', v_paused, 'queued', v_queued,
    'dry_run', coalesce(dry_run, false), 'changed', v_was);
end $$;
grant execute on function app.continue_type(text, text, boolean, text, text) to fanfold_api, fanfold_admin;
