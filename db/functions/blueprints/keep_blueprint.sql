-- Keeps a blueprint, and returns the hash that submit_kept knows it by.
create or replace function app.keep_blueprint(blueprint jsonb, tenant text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  return to_json(app.save_blueprint(app.acting_tenant(tenant), blueprint));
end $$;
grant execute on function app.keep_blueprint(jsonb, text) to fanfold_api, fanfold_admin;
