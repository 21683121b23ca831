-- A hint for workers that have written themselves idle. NOTIFY takes a database-wide lock at commit, so nobody idle, no hint.
create or replace function app.wake(task_types text[])
returns void
language plpgsql
as $$
begin
  perform pg_notify('fanfold_ready', t)
    from unnest(task_types) t
   where exists (
     select 1
       from app.workers w
      where w.status = 'live'
        and w.idle
        and t = any (w.types)
        and w.heartbeat_at > now() - make_interval(secs => w.lease_s));
end $$;
