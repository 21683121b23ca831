-- A tenant's events since one it has seen, in order and a page at a time, for a follower that comes back; `watched`: the numbers
-- it had not seen before that one, as [from, to) pairs. Of one job, or of all.
create or replace function app.missed_events(after bigint, watched json, job text, most integer, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  return (
    with late as (
      select l.event_id
        from json_array_elements(watched) w
        cross join lateral (
          select e.event_id
            from app.events e
           where e.tenant_id = v_tenant and e.event_id >= (w ->> 0)::bigint and e.event_id < (w ->> 1)::bigint and e.event_id <= after
           order by e.event_id
           limit 1000) l
    ),
    page as (
      select e.event_id
        from app.events e
       where e.tenant_id = v_tenant and e.event_id > after and (job is null or e.job_id = job)
       order by e.event_id
       limit least(greatest(most, 1), 1000)
    ),
    told as (select event_id from late union select event_id from page)
    select json_build_object(
      'last', (select max(event_id) from page),
      'more', (select count(*) from page) = least(greatest(most, 1), 1000),
      'events', (
        select coalesce(json_agg(app.event_record(e) order by e.event_id), '[]')
          from told t
          cross join lateral (select * from app.events e where e.event_id = t.event_id offset 0) e
         where job is null or e.job_id = job)));
end $$;
grant execute on function app.missed_events(bigint, json, text, integer, text) to fanfold_api, fanfold_admin;
