-- What happened since `after`, for one process that tells many: the events of the tenants named, a page at a time.
-- An event's number is taken before its transaction commits, so that numbers become visible out of order. `missing` are the
-- numbers of this page that are not there (yet), as [from, to) pairs; the caller gives those it still waits for as `watched`, and
-- is told which have come. It may stop waiting for a number when every transaction that ran as it was found missing has ended:
-- when `xmin` has reached the `xmax` of that time.
-- `after` null: where to begin. Numbers that were missing shortly before are told as well.
create or replace function app.follow_events(after bigint, watched json, tenants json, most integer)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  c_looks_back constant bigint := 10000;
  v_tenants text[] := app.followed_tenants(tenants);
  v_begins boolean := after is null;
  -- A cell counts in larger steps; what moved there from another one has numbers between its own.
  v_step bigint := case when exists (select from app.cell) then 128 else 1 end;
  v_after bigint := coalesce(after, greatest((select coalesce(max(e.event_id), 0) from app.events e) - c_looks_back * v_step, 0));
  v_most integer := case when after is null then c_looks_back::integer else least(greatest(most, 1), 10000) end;
begin
  return (
    with page as materialized (
      select e.event_id, e.tenant_id from app.events e where e.event_id > v_after order by e.event_id limit v_most
    ),
    late as materialized (
      select l.event_id, l.tenant_id
        from json_array_elements(watched) w
        cross join lateral (
          select e.event_id, e.tenant_id
            from app.events e
           where e.event_id >= (w ->> 0)::bigint and e.event_id < (w ->> 1)::bigint
           order by e.event_id
           limit v_most) l
    ),
    holes as (
      select p.before + 1 as lo, p.event_id as hi
        from (select g.event_id, lag(g.event_id, 1, v_after) over (order by g.event_id) as before from page g) p
       where p.event_id > p.before + v_step and p.event_id - p.before < 100000 * v_step
    ),
    told as (
      select event_id from page where tenant_id = any (v_tenants) and not v_begins
      union all
      select event_id from late where tenant_id = any (v_tenants)
    )
    select json_build_object(
      'last', coalesce((select max(event_id) from page), v_after),
      'more', (select count(*) from page) = v_most and not v_begins,
      'missing', (select coalesce(json_agg(json_build_array(h.lo, h.hi) order by h.lo), '[]') from holes h),
      'found', (select coalesce(json_agg(event_id order by event_id), '[]') from late),
      'events', (
        select coalesce(json_agg(app.event_record(e) order by e.event_id), '[]')
          from told t
          cross join lateral (select * from app.events e where e.event_id = t.event_id offset 0) e),
      'xmin', pg_snapshot_xmin(pg_current_snapshot())::text::bigint,
      'xmax', pg_snapshot_xmax(pg_current_snapshot())::text::bigint));
end $$;
grant execute on function app.follow_events(bigint, json, json, integer) to fanfold_api, fanfold_admin;
