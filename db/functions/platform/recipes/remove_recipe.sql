-- Takes a saved recipe out of use: its requests go on, and there are no new ones. It may be saved again.
create or replace function platform.remove_recipe(data_type text, reason text default null, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, platform, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_last platform.saved_recipes;
begin
  perform app.lock_named(v_tenant || ' recipe ' || remove_recipe.data_type);
  select * into v_last from platform.saved_recipes b
   where b.tenant_id = v_tenant and b.data_type = remove_recipe.data_type order by b.version desc limit 1;
  if not found then
    raise exception 'there is no saved recipe "%"', left(coalesce(remove_recipe.data_type, 'null'), 80)
      using errcode = 'FF001', hint = 'only what was saved as data can be removed';
  end if;
  if v_last.removed_at is null then
    update platform.saved_recipes b set removed_at = now(), removed_by = coalesce(left(actor, 200), session_user)
     where b.tenant_id = v_tenant and b.data_type = v_last.data_type and b.version = v_last.version;
    perform app.note(v_tenant, 'recipe.removed', null, null, reason,
      jsonb_build_object('data_type', v_last.data_type, 'version', v_last.version), actor);
  end if;
  return json_build_object('data_type', v_last.data_type, 'changed', v_last.removed_at is null);
end $$;
grant execute on function platform.remove_recipe(text, text, text, text) to fanfold_api, fanfold_admin;
