-- The last times of some schedules, newest first, with how their jobs stand: {name: [tick, …]}. Each by its key.
create or replace function app.recent_ticks(names json, page_rows integer, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
begin
  if page_rows not between 1 and 50 or json_array_length(names) > 1000 then
    raise exception 'that is too much at once' using errcode = 'FF002', hint = 'at most 50 times of 1000 schedules';
  end if;
  return (
    select coalesce(json_object_agg(s.name, (
        select coalesce(json_agg((app.tick_record(t.tick)::jsonb || jsonb_build_object('job_status', j.status)) order by (t.tick).tick_at desc), '[]')
          from (
            select k as tick from app.schedule_ticks k where k.schedule_id = s.schedule_id order by k.tick_at desc limit page_rows) t
          left join lateral (
            select q.status from app.jobs q where q.tenant_id = v_tenant and q.job_id = (t.tick).job_id offset 0) j on true)), '{}')
      from (select distinct n.value from json_array_elements_text(names) n) n
      join app.schedules s on s.tenant_id = v_tenant and s.name = n.value);
end $$;
grant execute on function app.recent_ticks(json, integer, text) to fanfold_api, fanfold_admin;
