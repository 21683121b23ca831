-- Keeps a recipe, and returns the hash that submit_request knows it by.
create or replace function platform.keep_recipe(recipe jsonb, tenant text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, platform, app, pg_temp
as $$
begin
  return to_json(platform.save_recipe(app.acting_tenant(tenant), recipe));
end $$;
grant execute on function platform.keep_recipe(jsonb, text) to fanfold_api, fanfold_admin;
