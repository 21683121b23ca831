-- Makes a collection in pgSTAC, or replaces it if told to. Gives whether it was made.
create or replace function stac.pgstac_put_collection(collection jsonb, is_replaced boolean default false, tenant text default null)
returns boolean
language plpgsql security definer
set search_path = pgstac, @postgis@, pg_temp
set client_min_messages = warning
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_stored text := stac.pgstac_stored_name(collection ->> 'id', v_tenant);
  v_content jsonb := collection || jsonb_build_object('id', v_stored);
  v_before jsonb;
begin
  if not app.is_server() then
    perform app.refuse_wild_numbers(collection);
  end if;
  if coalesce(octet_length(collection ->> 'id'), 0) not between 1 and 256 then
    perform stac.refuse('a collection''s id has 1 to 256 bytes', '$.id', 'is missing, empty or too long', 'give a short name');
  end if;
  if v_stored is null then
    perform stac.refuse('this id is another tenant''s in pgSTAC', '$.id', 'begins as the name of a tenant and "~"', 'give another name');
  end if;
  if v_stored ~ '''' then
    perform stac.refuse('pgSTAC takes no collection with a quote in its id', '$.id', 'holds a quote', 'give another name');
  end if;
  perform platform.assert_may_publish(v_tenant, '{}');
  perform stac.pgstac_lock();
  select c.content into v_before from pgstac.collections c where c.id = v_stored;
  if not found then
    insert into pgstac.collections (content) values (v_content);
    return true;
  end if;
  if is_replaced then
    perform stac.pgstac_replace(v_stored, v_content);
  end if;
  return false;
end $$;
grant execute on function stac.pgstac_put_collection(jsonb, boolean, text) to fanfold_api, fanfold_worker, fanfold_admin;
