-- The recipes a tenant saved, as they are in force: all of them by name, or the one that is asked for.
create or replace function platform.saved_recipes(data_type text default null, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, platform, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return (
    select coalesce(json_agg(json_build_object('data_type', b.data_type, 'version', b.version, 'recipe', b.recipe, 'saved_at', b.saved_at,
        'saved_by', b.saved_by, 'declaration', b.declaration) order by b.data_type), '[]')
      from (
        select distinct on (s.data_type) s.*
          from platform.saved_recipes s
         where s.tenant_id = v_tenant and (saved_recipes.data_type is null or s.data_type = saved_recipes.data_type)
         order by s.data_type, s.version desc) b
     where b.removed_at is null);
end $$;
grant execute on function platform.saved_recipes(text, text) to fanfold_api, fanfold_admin;
