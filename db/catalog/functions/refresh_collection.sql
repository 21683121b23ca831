-- Gives a collection the extent and the summaries that its items have now, and answers it.
create or replace function stac.refresh_collection(collection_id text, tenant text default null)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, stac, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_content jsonb;
begin
  -- Counting comes after the lock: of two that refresh at once, the later has seen all that the earlier saw.
  select c.content into v_content from stac.collections c where c.tenant_id = v_tenant and c.id = collection_id for no key update;
  if not found then
    raise exception 'there is no collection "%"', left(collection_id, 80) using errcode = 'FF001', hint = 'make the collection first';
  end if;
  v_content := stac.with_facts(v_content, stac.collection_facts('stac', collection_id, v_tenant));
  update stac.collections c set content = v_content, updated_at = now() where c.tenant_id = v_tenant and c.id = collection_id;
  return v_content;
end $$;
grant execute on function stac.refresh_collection(text, text) to fanfold_api, fanfold_worker, fanfold_admin;
