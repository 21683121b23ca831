-- Whether a recorded file of a task was followed by one of the same name from a later run of that task: its record is of no use any more.
create or replace function app.replaced_file(zone text, key text, tenant text default null)
returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return exists (
    select from app.assets f
      join app.assets later
        on later.tenant_id = f.tenant_id and later.job_id = f.job_id and later.zone = f.zone and later.stage_id = f.stage_id
       and later.ordinal = f.ordinal and later.name = f.name and later.created_at > f.created_at
     where f.tenant_id = v_tenant and f.zone = replaced_file.zone and f.key = replaced_file.key
       and later.retracted_at is null and not later.adopted and not f.adopted);
end $$;
grant execute on function app.replaced_file(text, text, text) to fanfold_api, fanfold_admin;
