-- Times of a schedule, newest first, by keyset: `cursor` is the `next` of the page before.
create or replace function app.list_ticks(name text, page_rows integer default 50, cursor text default null, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_schedule app.schedules := app.find_schedule(app.acting_tenant(tenant), list_ticks.name);
  v_rows integer := app.page_rows(page_rows);
  v_last record := app.time_cursor(cursor, '');
begin
  return (
    with page as (
      select * from app.schedule_ticks t
       where t.schedule_id = v_schedule.schedule_id and t.tick_at < v_last.at
       order by t.tick_at desc
       limit v_rows + 1
    ),
    shown as (select p.tick_at from page p order by p.tick_at desc limit v_rows)
    select json_build_object(
      'ticks', coalesce((select json_agg(app.tick_record(t) order by t.tick_at desc)
        from app.schedule_ticks t where t.schedule_id = v_schedule.schedule_id and t.tick_at in (select s.tick_at from shown s)), '[]'),
      'next', case when (select count(*) from page) > v_rows then (
        select ((extract(epoch from min(s.tick_at)) * 1000000)::bigint)::text from shown s) end));
end $$;
grant execute on function app.list_ticks(text, integer, text, text) to fanfold_api, fanfold_admin;
