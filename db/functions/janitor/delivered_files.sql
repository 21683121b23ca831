-- The files that a job delivered into zones, in pages of 500 by zone and key, those left out that a later run of the same task has taken the
-- place of. `after` is [zone, key] of the last one.
create or replace function app.delivered_files(job_id text, tenant text default null, after json default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set jit = off
as $$
declare
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), delivered_files.job_id);
begin
  return (
    select coalesce(json_agg(app.asset_record(a) order by a.zone, a.key), '[]')
      from (
        select f.*
          from app.assets f
         where f.tenant_id = v_job.tenant_id and f.job_id = v_job.job_id and f.retracted_at is null
           and (delivered_files.after is null or (f.zone, f.key) > (delivered_files.after ->> 0, delivered_files.after ->> 1))
           and not exists (
             select from app.assets later
              where later.tenant_id = f.tenant_id and later.job_id = f.job_id and later.zone = f.zone and later.stage_id = f.stage_id
                and later.ordinal = f.ordinal and later.name = f.name and later.created_at > f.created_at
                and later.retracted_at is null and not later.adopted and not f.adopted)
         order by f.zone, f.key
         limit 500) a);
end $$;
grant execute on function app.delivered_files(text, text, json) to fanfold_api, fanfold_admin;
