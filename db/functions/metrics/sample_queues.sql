-- Looks at what waits and runs, for the history of its minute, and once a minute at the database. Looking may take a twentieth of the
-- time at most. What is older than a day goes.
create or replace function app.sample_queues()
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set jit = off
as $$
declare
  -- The most types of one tenant: a tenant that makes types up must not fill the table.
  c_types constant integer := 200;
  c_kept constant interval := interval '24 hours';
  v_minute timestamptz := date_trunc('minute', now());
  v_last app.rate_samples;
  v_started timestamptz := clock_timestamp();
  v_vitals jsonb;
begin
  if not app.take_duty('rates') then
    return json_build_object('sampled', false);
  end if;
  select * into v_last from app.rate_samples s order by s.minute desc limit 1;
  -- Not by a sample of the future either: the clock was set back.
  if v_last.sampled_at between v_started - greatest(interval '2 seconds', make_interval(secs => v_last.took_ms / 50)) and v_started then
    return json_build_object('sampled', false);
  end if;
  with pools as (
    select r.tenant_id, r.task_type, sum(r.hi - r.lo) filter (where r.run_at <= now()) as due,
      sum(r.hi - r.lo) filter (where r.run_at > now()) as later, 0 as running
      from app.ready r
     group by 1, 2
    union all
    select k.tenant_id, k.task_type, 0, 0, sum(app.held_count(k.held)) from app.claims k group by 1, 2
  ),
  named as materialized (
    select g.*
      from (
        select p.tenant_id, p.task_type, coalesce(sum(p.due), 0) as due, coalesce(sum(p.later), 0) as later, coalesce(sum(p.running), 0) as running,
          row_number() over (partition by p.tenant_id order by coalesce(sum(p.due), 0) + coalesce(sum(p.running), 0) desc, p.task_type) as place
          from pools p
         group by 1, 2
      ) g
     where g.place <= c_types
  ),
  over as (
    -- What was there earlier in this minute and is gone has nothing waiting now.
    update app.rate_minutes m
       set due = 0, later = 0, running = 0
     where m.minute = v_minute and (m.due, m.later, m.running) is distinct from (0, 0, 0)
       and not exists (select from named n where n.tenant_id = m.tenant_id and n.task_type = m.task_type)
  )
  insert into app.rate_minutes as m (tenant_id, task_type, minute, due, later, running)
  select n.tenant_id, n.task_type, v_minute, n.due, n.later, n.running from named n order by 1, 2
  on conflict (tenant_id, task_type, minute) do update set due = excluded.due, later = excluded.later, running = excluded.running;
  if v_last.minute is distinct from v_minute then
    v_vitals := app.sample_vitals();
    delete from app.rate_minutes m where m.ctid = any (array(select o.ctid from app.rate_minutes o where o.minute < now() - c_kept limit 20000));
    delete from app.rate_samples s where s.minute < now() - c_kept;
  end if;
  insert into app.rate_samples as s (minute, sampled_at, took_ms, vitals)
  values (v_minute, v_started, extract(epoch from clock_timestamp() - v_started) * 1000, v_vitals)
  on conflict (minute) do update set sampled_at = excluded.sampled_at, took_ms = excluded.took_ms;
  return json_build_object('sampled', true);
end $$;
grant execute on function app.sample_queues() to fanfold_worker, fanfold_admin;
