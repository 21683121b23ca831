-- Has a task of one of these jobs (a JSON array of ids) made this file, or recorded it first?
create or replace function app.is_made_by(zone text, key text, jobs json, tenant text default null)
returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return exists (
    select from app.assets a
     where a.tenant_id = v_tenant and a.zone = is_made_by.zone and a.key = is_made_by.key and a.retracted_at is null
       and coalesce(a.job_id, app.job_of(v_tenant, a.stage_id)) in (select json_array_elements_text(jobs)));
end $$;
grant execute on function app.is_made_by(text, text, json, text) to fanfold_api, fanfold_worker, fanfold_admin;
