-- Takes a saved job type out of use: its jobs go on, and there are no new ones. It may be saved again.
create or replace function app.remove_blueprint(job_type text, reason text default null, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_last app.saved_blueprints;
begin
  perform app.lock_named(v_tenant || ' blueprint ' || remove_blueprint.job_type);
  select * into v_last from app.saved_blueprints b
   where b.tenant_id = v_tenant and b.job_type = remove_blueprint.job_type order by b.version desc limit 1;
  if not found then
    raise exception 'there is no saved job type "%"', left(coalesce(remove_blueprint.job_type, 'null'), 80)
      using errcode = 'FF001', hint = 'only what was saved as data can be removed';
  end if;
  if v_last.removed_at is null then
    update app.saved_blueprints b set removed_at = now(), removed_by = coalesce(left(actor, 200), session_user)
     where b.tenant_id = v_tenant and b.job_type = v_last.job_type and b.version = v_last.version;
    perform app.note(v_tenant, 'blueprint.removed', null, null, reason,
      jsonb_build_object('job_type', v_last.job_type, 'version', v_last.version), actor);
  end if;
  return json_build_object('type', v_last.job_type, 'changed', v_last.removed_at is null);
end $$;
grant execute on function app.remove_blueprint(text, text, text, text) to fanfold_api, fanfold_admin;
