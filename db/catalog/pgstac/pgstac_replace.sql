-- Gives a collection another content. Items there are stored as differences from what the collection says of them (item_assets): where
-- that changes, they are made whole by the old and stored again by the new.
create or replace function stac.pgstac_replace(stored text, content jsonb)
returns void
language plpgsql
set search_path = pgstac, @postgis@, pg_temp
as $$
declare
  v_before jsonb;
  v_whole jsonb;
begin
  select c.base_item into v_before from pgstac.collections c where c.id = stored;
  if v_before is distinct from pgstac.collection_base_item(content) then
    v_whole := (select jsonb_agg(pgstac.content_hydrate(i, c)) from pgstac.items i join pgstac.collections c on c.id = i.collection where i.collection = stored);
  end if;
  update pgstac.collections c set content = pgstac_replace.content where c.id = stored;
  if v_whole is not null then
    update pgstac.items i
       set content = pgstac.content_slim(w.item)
      from jsonb_array_elements(v_whole) w (item)
     where i.collection = stored and i.id = w.item ->> 'id';
  end if;
end $$;
