-- For a scheduler: what is due by the database's clock, job types it knows first, and when to look again.
create or replace function app.due_schedules(job_types json, page_rows integer default 100)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.worker_tenant();
  v_known text[] := array(select json_array_elements_text(job_types));
begin
  return (
    with due as (
      select s.*
        from app.schedules s
       where s.paused_at is null and s.next_at <= now() and s.tenant_id = coalesce(v_tenant, s.tenant_id)
       -- Types it may not know come in any order: those that it does not must not stand before the others for ever.
       order by s.job_type = any (v_known) desc, case when s.job_type = any (v_known) then s.next_at end, random()
       limit page_rows
    )
    select json_build_object(
      'now', now(),
      'wait_s', greatest(0, extract(epoch from (
        select min(s.next_at) from app.schedules s
         where s.paused_at is null and s.next_at > now() and s.tenant_id = coalesce(v_tenant, s.tenant_id)) - now())),
      'schedules', coalesce((
        select json_agg(json_build_object(
          'schedule_id', d.schedule_id, 'tenant_id', d.tenant_id, 'name', d.name, 'cron', d.cron, 'time_zone', d.time_zone,
          'job_type', d.job_type, 'parameters', d.parameters, 'options', d.options, 'missed', d.missed, 'version', d.version,
          'next_at', d.next_at) order by d.next_at, d.schedule_id) from due d), '[]')));
end $$;
grant execute on function app.due_schedules(json, integer) to fanfold_worker, fanfold_admin;
