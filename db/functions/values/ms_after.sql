-- Whole milliseconds from one moment to another; null when there is none.
create or replace function app.ms_after(origin timestamptz, moment timestamptz)
returns bigint
language sql immutable
as $$
  select round(extract(epoch from moment - origin) * 1000)::bigint
$$;
