-- Saves a recipe as data for a tenant. request: {tenant?, declaration, recipe, actor?}. What is saved already stays as it is; a change is the
-- next version. Requests keep the recipe they were submitted with.
create or replace function platform.put_recipe(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, platform, app, pg_temp
as $$
declare
  c_most constant integer := 1000;
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_recipe jsonb := (request -> 'recipe')::jsonb;
  v_declaration jsonb := (request -> 'declaration')::jsonb;
  v_type text := v_recipe ->> 'data_type';
  v_last platform.saved_recipes;
  v_new boolean;
begin
  if not app.is_server() then
    perform app.refuse_wild_numbers(v_recipe), app.refuse_wild_numbers(v_declaration);
  end if;
  perform app.refuse_problems('the recipe', platform.recipe_problems(v_recipe));
  if v_recipe @? '$.jobs[*] ? (exists(@.parameters.function) || exists(@.when.function))' then
    raise exception 'a recipe that is saved has no functions' using errcode = 'FF002', hint = 'write templates and JSONPath, or declare it in code';
  end if;
  perform app.lock_named(v_tenant || ' recipe ' || v_type);
  select * into v_last from platform.saved_recipes b where b.tenant_id = v_tenant and b.data_type = v_type order by b.version desc limit 1;
  v_new := v_last.version is null or v_last.removed_at is not null;
  if v_new and (
    select count(*) from platform.saved_recipes b where b.tenant_id = v_tenant and b.removed_at is null and not exists (
      select from platform.saved_recipes n where n.tenant_id = v_tenant and n.data_type = b.data_type and n.version > b.version)) >= c_most then
    raise exception 'a tenant saves at most % recipes', c_most using errcode = 'FF009', hint = 'remove one that is not used any more';
  end if;
  if v_new or v_last.declaration <> v_declaration or v_last.recipe <> v_recipe then
    if octet_length(v_declaration::text) > 262144 then
      raise exception 'the declaration is larger than 256 KB' using errcode = 'FF004', hint = 'declare less';
    end if;
    insert into platform.saved_recipes (tenant_id, data_type, version, declaration, recipe, saved_by)
    values (v_tenant, v_type, coalesce(v_last.version, 0) + 1, v_declaration, v_recipe, coalesce(left(request ->> 'actor', 200), session_user));
    perform app.note(v_tenant, 'recipe.saved', null, null, null,
      jsonb_build_object('data_type', v_type, 'version', coalesce(v_last.version, 0) + 1), request ->> 'actor');
    return json_build_object('created', v_new, 'changed', true);
  end if;
  return json_build_object('created', false, 'changed', false);
end $$;
grant execute on function platform.put_recipe(json) to fanfold_api, fanfold_admin;
