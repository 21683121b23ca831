-- When an item begins and ends: start_datetime and end_datetime where both are given, else datetime twice.
create or replace function stac.item_times(item jsonb, out starts timestamptz, out ends timestamptz)
language sql immutable parallel safe
as $$
  select
    case when b.is_range then stac.json_time(item #> '{properties,start_datetime}') else stac.json_time(item #> '{properties,datetime}') end,
    case when b.is_range then stac.json_time(item #> '{properties,end_datetime}') else stac.json_time(item #> '{properties,datetime}') end
  from (select item #>> '{properties,start_datetime}' is not null and item #>> '{properties,end_datetime}' is not null as is_range) b
$$;
