-- Tries what the catalogue does with pgSTAC: makes a collection, writes an item into it, reads and removes both, and undoes all of it. Null
-- where that works, else what failed. A release says little: its rights, triggers and tables decide.
create or replace function stac.pgstac_probe()
returns text
language plpgsql security definer
set search_path = pgstac, @postgis@, pg_temp
set client_min_messages = warning
set timezone = 'UTC'
as $$
declare
  v_id text := 'fanfold-probe-' || gen_random_uuid();
  v_when timestamptz := timestamptz '2000-01-01T00:00:00Z';
  v_content jsonb := jsonb_build_object(
    'type', 'Collection', 'stac_version', '1.0.0', 'id', v_id, 'description', 'A probe.', 'license', 'other', 'links', '[]'::jsonb,
    'extent', '{"spatial": {"bbox": [[-180, -90, 180, 90]]}, "temporal": {"interval": [[null, null]]}}'::jsonb);
  v_count integer;
begin
  perform stac.pgstac_lock();
  insert into pgstac.collections (content) values (v_content);
  perform pgstac.check_partition(v_id, tstzrange(v_when, v_when, '[]'), tstzrange(v_when, v_when, '[]'));
  insert into pgstac.items (id, geometry, collection, datetime, end_datetime, content)
  values ('item', st_setsrid(st_makepoint(10, 50), 4326), v_id, v_when, v_when, '{"properties": {"datetime": "2000-01-01T00:00:00Z"}}');
  select count(*) into v_count
    from pgstac.items i
    join pgstac.collections c on c.id = i.collection and c.base_item is not null
   where i.collection = v_id and i.id = 'item' and i.content #>> '{properties,datetime}' = '2000-01-01T00:00:00Z';
  if v_count <> 1 then
    raise exception 'an item that was written is not read again';
  end if;
  delete from pgstac.items i where i.collection = v_id;
  perform stac.pgstac_drop_collection(v_id);
  raise exception sqlstate 'FFUND';
exception
  when sqlstate 'FFUND' then
    return null;
  when others then
    return sqlerrm;
end $$;
grant execute on function stac.pgstac_probe() to fanfold_admin;
