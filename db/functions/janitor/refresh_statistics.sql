-- Tables that have grown to more than twice what they were when last analysed are analysed now. Plans are kept by connections and
-- made when tables are empty: then any index looks as good as any other, and a lookup by key reads all there is until somebody
-- analyses. Autovacuum does so after a minute or more, and the embedded database has none.
create or replace function app.refresh_statistics()
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set lock_timeout = '200ms'
as $$
declare
  c_pages constant integer := 8;
  v_table text;
  v_done text[] := '{}'::text[];
begin
  -- Tables belong to all tenants. One at a time; the second finds nothing left.
  if not app.take_duty('statistics') then
    return json_build_object('analysed', array_to_json(v_done));
  end if;
  for v_table in
    select c.relname
      from pg_class c
     where c.relnamespace = 'app'::regnamespace and c.relkind = 'r'
       -- The tables of the migrations themselves are not its own: analyze passes over them with a warning.
       and pg_get_userbyid(c.relowner) = current_user
       and pg_relation_size(c.oid) / current_setting('block_size')::integer > greatest(2 * c.relpages, c_pages)
     order by c.relname
  loop
    execute format('analyze app.%I', v_table);
    v_done := v_done || v_table;
  end loop;
  return json_build_object('analysed', array_to_json(v_done));
end $$;
grant execute on function app.refresh_statistics() to fanfold_worker, fanfold_admin;
