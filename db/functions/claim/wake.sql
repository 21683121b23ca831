-- A hint for workers that have written themselves idle. NOTIFY takes a database-wide lock at commit, so nobody idle, no hint.
-- Every login can hear it, so it carries a hash of the type: workers that wait for the type know its hash (src/core/task/notify_payload.ts).
create or replace function app.wake(task_types text[])
returns void
language plpgsql
as $$
declare
  v_type text;
begin
  foreach v_type in array coalesce(task_types, '{}') loop
    if exists (
      select
        from app.workers w
       where w.status = 'live'
         and w.idle
         and v_type = any (w.types)
         and w.heartbeat_at > now() - make_interval(secs => w.lease_s))
    then
      perform pg_notify('fanfold_ready', substr(encode(sha256(convert_to(v_type, 'UTF8')), 'hex'), 1, 12));
    end if;
  end loop;
end $$;
