-- A worker tells the recipes that it has in code: the newest telling counts. For its own tenant, or for all where it serves all.
create or replace function platform.register_recipes(recipes jsonb)
returns integer
language plpgsql security definer
set search_path = pg_catalog, platform, app, pg_temp
as $$
declare
  v_tenant text := coalesce(app.worker_tenant(), '');
  v_changed integer;
begin
  if jsonb_typeof(recipes) is distinct from 'array' or jsonb_array_length(recipes) > 1000 then
    raise exception 'a worker has at most 1000 recipes' using errcode = 'FF002';
  end if;
  perform app.refuse_problems('the recipe ' || coalesce(b ->> 'data_type', ''), platform.recipe_problems(b)) from jsonb_array_elements(recipes) b;
  -- Those that start together write in one order, and those that bring nothing new write nothing.
  insert into platform.registered_recipes as r (tenant_id, data_type, recipe)
  select v_tenant, b ->> 'data_type', b
    from jsonb_array_elements(recipes) b
   where not exists (
     select from platform.registered_recipes k where k.tenant_id = v_tenant and k.data_type = b ->> 'data_type' and k.recipe = b)
   order by b ->> 'data_type'
  on conflict (tenant_id, data_type) do update set recipe = excluded.recipe, registered_at = now();
  get diagnostics v_changed = row_count;
  return v_changed;
end $$;
grant execute on function platform.register_recipes(jsonb) to fanfold_worker, fanfold_admin;
