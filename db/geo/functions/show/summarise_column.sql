-- What a column of a layer holds, for a legend or a filter: its span, tenths of its numbers, its commonest values. Of a large layer it is read
-- from a part of its pages, an even choice, and says so.
create or replace function geo.summarise_column(layer_id text, column_name text, tenant text default null)
returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, geo, app, pg_temp
set timezone = 'UTC'
set jit = off
set max_parallel_workers_per_gather = 0
as $$
declare
  c_rows constant integer := 100000;
  c_values constant integer := 50;
  v_layer geo.layers := geo.find_layer(app.acting_tenant(tenant), layer_id);
  v_column jsonb := geo.layer_column(to_jsonb(v_layer), column_name);
  v_is_number boolean := v_column ->> 'type' in ('integer', 'number');
  v_is_sample boolean := v_layer.feature_count > c_rows;
  v_reply jsonb;
begin
  execute format(
    $q$with read as materialized (select t.%1$I as v from geo.%2$I t %3$s limit %4$s),
         common as (
           select r.v::text as v, count(*) as n from read r where r.v is not null and %5$s group by 1 order by 2 desc, 1 limit %6$s)
       select jsonb_build_object(
           'row_count', (select count(*) from read),
           'null_count', (select count(*) from read r where r.v is null),
           'distinct_count', case when %5$s then (select count(distinct r.v) from read r) end,
           'least', %7$s, 'most', %8$s, 'tenths', %9$s,
           'values', coalesce((select jsonb_agg(jsonb_build_object('value', left(c.v, 200), 'count', c.n) order by c.n desc, c.v) from common c), '[]'))$q$,
    column_name, v_layer.table_name,
    case when v_is_sample then format('tablesample system (%s) repeatable (0)', round(100.0 * c_rows / v_layer.feature_count, 6)) else '' end,
    2 * c_rows,
    case when v_column ->> 'type' = 'json' then 'false' else 'true' end, c_values,
    -- What is no finite number has no place in a span.
    case
      when v_is_number then $q$(select min(r.v::double precision) from read r where abs(r.v::double precision) < 'infinity')$q$
      when v_column ->> 'type' in ('date', 'datetime') then '(select min(r.v) from read r)'
      else 'null' end,
    case
      when v_is_number then $q$(select max(r.v::double precision) from read r where abs(r.v::double precision) < 'infinity')$q$
      when v_column ->> 'type' in ('date', 'datetime') then '(select max(r.v) from read r)'
      else 'null' end,
    case when v_is_number
      then $q$(select percentile_disc(array[0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]) within group (order by r.v::double precision) from read r where abs(r.v::double precision) < 'infinity')$q$
      else 'null' end)
    into v_reply;
  return jsonb_build_object('name', column_name, 'type', v_column ->> 'type', 'sampled', v_is_sample) || v_reply;
end $$;
grant execute on function geo.summarise_column(text, text, text) to fanfold_api, fanfold_admin;
