-- For psql: submits a request by the recipe that fits it.
--   select platform.submit('{"dataset_id": "dem", "resource_id": "alps", "version_id": "1", "files": ["bronze:alps.tif"]}');
create or replace function platform.submit(request jsonb, tenant text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, platform, app, pg_temp
as $$
declare
  v_tenant constant text := app.acting_tenant(tenant);
  v_recipe jsonb;
  v_asked jsonb := request;
begin
  perform platform.check_submitted(request);
  v_recipe := platform.route(v_tenant, request);
  if jsonb_typeof(v_recipe -> 'parameters') = 'object' then
    v_asked := v_asked || jsonb_build_object('parameters', platform.with_defaults(
      v_recipe -> 'parameters', coalesce(nullif(v_asked -> 'parameters', 'null'), '{}')));
    perform app.refuse_problems('the request', app.parameter_problems(v_recipe -> 'parameters', v_asked -> 'parameters'));
  end if;
  return platform.submit_request(platform.save_recipe(v_tenant, v_recipe), (v_asked || jsonb_build_object('tenant', v_tenant))::json);
end $$;
grant execute on function platform.submit(jsonb, text) to fanfold_api, fanfold_admin;
