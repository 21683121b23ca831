-- Makes a collection, or replaces it if told to. Gives whether it was made.
create or replace function stac.put_collection(collection jsonb, is_replaced boolean default false, tenant text default null)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, stac, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_made boolean;
begin
  if not app.is_server() then
    perform app.refuse_wild_numbers(collection);
  end if;
  if coalesce(octet_length(collection ->> 'id'), 0) not between 1 and 256 then
    perform stac.refuse('a collection''s id has 1 to 256 bytes', '$.id', 'is missing, empty or too long', 'give a short name');
  end if;
  perform platform.assert_may_publish(v_tenant, '{}');
  insert into stac.collections (tenant_id, id, content)
  values (v_tenant, collection ->> 'id', collection)
  on conflict (tenant_id, id) do nothing;
  v_made := found;
  if not v_made and is_replaced then
    update stac.collections c set content = collection, updated_at = now()
     where c.tenant_id = v_tenant and c.id = collection ->> 'id';
  end if;
  return v_made;
end $$;
grant execute on function stac.put_collection(jsonb, boolean, text) to fanfold_api, fanfold_worker, fanfold_admin;
