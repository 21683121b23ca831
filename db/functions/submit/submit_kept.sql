-- Does what submit_jobs does for a blueprint that the database keeps already; the caller names it by its hash. Returns null when no blueprint
-- has that hash.
create or replace function app.submit_kept(blueprint_hash text, request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_blueprint jsonb := (
    select b.blueprint from app.blueprints b
     where b.tenant_id = app.acting_tenant(request ->> 'tenant') and b.blueprint_hash = submit_kept.blueprint_hash);
begin
  return case when v_blueprint is not null then app.submit_jobs(v_blueprint, request) end;
end $$;
grant execute on function app.submit_kept(text, json) to fanfold_api, fanfold_admin;
