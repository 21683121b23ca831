-- From now on nobody sees the file. Of one that was adopted the record goes and the file stays, unless it is to be removed too; one of
-- ours is removed after this has committed, and its row with it. Gives whether there was anything to retract.
create or replace function app.retract_asset(zone text, key text, tenant text default null, remove_adopted boolean default false)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  perform app.wait_briefly();
  if not remove_adopted then
    delete from app.assets a
     where a.tenant_id = v_tenant and a.zone = retract_asset.zone and a.key = retract_asset.key and a.adopted;
    if found then
      return true;
    end if;
  end if;
  update app.assets a
     set retracted_at = now(), adopted = false
   where a.tenant_id = v_tenant and a.zone = retract_asset.zone and a.key = retract_asset.key and a.retracted_at is null;
  return found;
end $$;
grant execute on function app.retract_asset(text, text, text, boolean) to fanfold_api, fanfold_worker, fanfold_admin;
