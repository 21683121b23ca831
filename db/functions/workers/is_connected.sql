-- Does the session still exist that a worker's last heartbeat came by? A process that was killed has none a moment later. A session with
-- its number that began after that heartbeat is somebody else's. One that came over HTTP has no session of its own, and says nothing.
create or replace function app.is_connected(worker app.workers)
returns boolean
language sql stable
as $$
  select worker.connections = 0 or worker.backend_pid is null or exists (
    select from pg_stat_get_activity(worker.backend_pid) a where coalesce(a.backend_start <= worker.heartbeat_at, true))
$$;
