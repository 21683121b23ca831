-- The job types a tenant saved, as they are in force: all of them by name, or the one that is asked for.
create or replace function app.saved_blueprints(job_type text default null, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return (
    select coalesce(json_agg(json_build_object('job_type', b.job_type, 'version', b.version, 'blueprint', b.blueprint, 'saved_at', b.saved_at,
        'saved_by', b.saved_by, 'declaration', case when saved_blueprints.job_type is not null then b.declaration end) order by b.job_type), '[]')
      from (
        select distinct on (s.job_type) s.*
          from app.saved_blueprints s
         where s.tenant_id = v_tenant and (saved_blueprints.job_type is null or s.job_type = saved_blueprints.job_type)
         order by s.job_type, s.version desc) b
     where b.removed_at is null);
end $$;
grant execute on function app.saved_blueprints(text, text) to fanfold_api, fanfold_admin;
