-- One group, with its counts.
create or replace function app.get_group(group_id text, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  return app.group_record(app.find_group(app.acting_tenant(tenant), get_group.group_id));
end $$;
grant execute on function app.get_group(text, text) to fanfold_api, fanfold_admin;
