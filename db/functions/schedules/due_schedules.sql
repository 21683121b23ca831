-- For a scheduler: what is due by the database's clock, job types it knows first, tenants in turn, and when to look again. What is
-- left out for its tenant's share or for its size is still due in the next round.
create or replace function app.due_schedules(job_types json, page_rows integer default 100)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  c_of_one_tenant constant integer := 25;
  c_bytes constant integer := 8 * 1024 * 1024;
  v_tenant text := app.worker_tenant();
  v_known text[] := array(select json_array_elements_text(job_types));
begin
  return (
    with ranked as (
      select s.schedule_id, s.job_type = any (v_known) as known,
          -- Types it may not know come in any order: those that it does not must not stand before the others for ever.
          row_number() over (
            partition by s.tenant_id, s.job_type = any (v_known)
            order by case when s.job_type = any (v_known) then s.next_at end, random()) as turn
        from app.schedules s
       where s.paused_at is null and s.next_at <= now() and s.tenant_id = coalesce(v_tenant, s.tenant_id)
         -- The schedules of a tenant on its way to another cell are due there.
         and not exists (select from app.moving_tenants m where m.tenant = s.tenant_id and m.state <> 'draining')
    ),
    page as (
      -- Each tenant's first before any second one, in any order of tenants: a tenant with many waits only for itself.
      select r.schedule_id, row_number() over () as place
        from (
          select k.schedule_id from ranked k where k.turn <= c_of_one_tenant order by k.known desc, k.turn, random()
           limit least(greatest(page_rows, 1), 1000)) r
    ),
    weighed as (
      select s.*, p.place, octet_length(s.parameters::text) + octet_length(s.options::text) as bytes
        from page p
        join app.schedules s on s.schedule_id = p.schedule_id
    ),
    due as (
      select f.* from (select w.*, sum(w.bytes) over (order by w.place) - w.bytes as before from weighed w) f where f.before < c_bytes
    )
    select json_build_object(
      'now', now(),
      'wait_s', (
        select extract(epoch from min(s.next_at) - now()) from app.schedules s
         where s.paused_at is null and s.next_at > now() and s.tenant_id = coalesce(v_tenant, s.tenant_id)),
      'schedules', coalesce((
        select json_agg(json_build_object(
          'schedule_id', d.schedule_id, 'tenant_id', d.tenant_id, 'name', d.name, 'cron', d.cron, 'time_zone', d.time_zone,
          'job_type', d.job_type, 'parameters', d.parameters, 'options', d.options, 'missed', d.missed, 'version', d.version,
          'next_at', d.next_at) order by d.next_at, d.schedule_id) from due d), '[]')));
end $$;
grant execute on function app.due_schedules(json, integer) to fanfold_worker, fanfold_admin;
