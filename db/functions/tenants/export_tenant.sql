-- For the server: the rows of a tenant, a page of one table at a time: {table, rows, next}. `next` goes in as `after`; null: that was all. What
-- keys and sessions are made of stays here. A page has 100 rows at most, and 8 MB unless its first row has more.
create or replace function app.export_tenant(tenant text, after json default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set jit = off
as $$
declare
  v_tables text[];
  v_table text;
  v_keys text[];
  v_place integer;
  v_rows json;
  v_count integer;
  v_last json;
  v_more boolean;
begin
  perform app.assert_server('export tenants');
  perform app.get_tenant(tenant);
  v_tables := array(
    select t.name from app.tables_of_tenants() t
     where t.name not in ('app.api_keys', 'app.sessions', 'app.ready', 'app.claims', 'app.named_locks', 'app.handler_statements',
       'app.group_changes', 'app.dependents_locks', 'app.host_slots', 'app.file_places'));
  v_table := coalesce(export_tenant.after ->> 'table', v_tables[1]);
  v_place := array_position(v_tables, v_table);
  if v_place is null then
    raise exception 'there is no table "%" to export', left(v_table, 100) using errcode = 'FF002';
  end if;
  select t.key_columns into v_keys from app.tables_of_tenants() t where t.name = v_table;
  execute format($sql$
    with page as materialized (
      select row_to_json(t) as record, row_number() over w as place
        from %1$s t
       where t.tenant_id = $1
         and ($2 is null or (%2$s) > (select %3$s from json_populate_record(null::%1$s, $2) r))
      window w as (order by %2$s)
       order by %2$s
       limit 101
    ),
    sized as (
      select p.*, sum(octet_length(p.record::text)) over (order by p.place) as bytes from page p
    ),
    taken as (
      select * from sized where place = 1 or (place <= 100 and bytes <= 8000000)
    )
    select coalesce(json_agg(record order by place), '[]'), count(*), (select count(*) from page) > count(*),
           (select record from taken order by place desc limit 1)
      from taken
    $sql$, v_table,
    (select string_agg(format('t.%I', k), ', ' order by o) from unnest(v_keys) with ordinality as x (k, o)),
    (select string_agg(format('r.%I', k), ', ' order by o) from unnest(v_keys) with ordinality as x (k, o)))
    into v_rows, v_count, v_more, v_last using tenant, export_tenant.after -> 'row';
  return json_build_object('table', v_table, 'rows', v_rows, 'next', case
    when v_more then json_build_object('table', v_table, 'row', v_last)
    when v_place < cardinality(v_tables) then json_build_object('table', v_tables[v_place + 1])
  end);
end $$;
grant execute on function app.export_tenant(text, json) to fanfold_api, fanfold_admin;
