-- Keeps a snapshot of a recipe and returns its hash. The same content is one row, so a submit usually writes nothing here.
create or replace function platform.save_recipe(tenant text, recipe jsonb)
returns text
language plpgsql
as $$
declare
  v_hash text;
begin
  if not app.is_server() then
    perform app.refuse_wild_numbers(recipe);
  end if;
  v_hash := encode(sha256(convert_to(recipe::text, 'UTF8')), 'hex');
  if exists (select from platform.recipes where tenant_id = tenant and recipe_hash = v_hash) then
    return v_hash;
  end if;
  perform app.refuse_problems('the recipe', platform.recipe_problems(recipe));
  insert into platform.recipes (tenant_id, recipe_hash, data_type, recipe)
  values (tenant, v_hash, recipe ->> 'data_type', recipe)
  on conflict do nothing;
  return v_hash;
end $$;
