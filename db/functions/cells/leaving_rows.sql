-- For the server, in one transaction that sees one state of the database: the rows of a closed tenant as Postgres writes them, a page of one table at a
-- time: {table, rows, next}. `next` goes in as `after`; null: that was all. A page has 1,000 rows at most, and 4 MB unless its first row has more.
create or replace function app.leaving_rows(request json, after json default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set jit = off
as $$
declare
  v_tenant constant text := request ->> 'tenant_id';
  v_tables text[] := array(select t.name from app.tables_that_move() t order by t.place);
  v_table text := coalesce(after ->> 'table', v_tables[1]);
  v_place integer := array_position(v_tables, v_table);
  v_keys text[] := (select t.key_columns from app.tables_that_move() t where t.name = v_table);
  v_rows json;
  v_more boolean;
  v_last text;
begin
  perform app.assert_server('move tenants');
  if not exists (
    select from app.moving_tenants m where m.tenant = v_tenant and m.move_id::text = request ->> 'move_id' and m.state = 'closed') then
    raise exception 'tenant "%" is not closed here by this move', v_tenant using errcode = 'FF006', hint = 'look where it is', detail = app.action('cells.status');
  end if;
  execute format($sql$
    with page as materialized (
      select t::text as record, row_number() over w as place
        from %1$s t
       where t.tenant_id = $1
         and ($2 is null or (%2$s) > (select %3$s from (select ($2::%1$s).*) r))
      window w as (order by %2$s)
       order by %2$s
       limit 1001
    ),
    sized as (
      select p.*, sum(octet_length(p.record)) over (order by p.place) as bytes from page p
    ),
    taken as (
      select * from sized where place = 1 or (place <= 1000 and bytes <= 4000000)
    )
    select coalesce(json_agg(record order by place), '[]'), (select count(*) from page) > count(*),
           (select record from taken order by place desc limit 1)
      from taken
    $sql$, v_table,
    (select string_agg(format('t.%I', k), ', ' order by o) from unnest(v_keys) with ordinality as x (k, o)),
    (select string_agg(format('r.%I', k), ', ' order by o) from unnest(v_keys) with ordinality as x (k, o)))
    into v_rows, v_more, v_last using v_tenant, after ->> 'row';
  return json_build_object('table', v_table, 'rows', v_rows, 'next', case
    when v_more then json_build_object('table', v_table, 'row', v_last)
    when v_place < cardinality(v_tables) then json_build_object('table', v_tables[v_place + 1])
  end);
end $$;
grant execute on function app.leaving_rows(json, json) to fanfold_api, fanfold_admin;
