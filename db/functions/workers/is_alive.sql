-- A worker within its lease, by the database's clock. Says nothing of one that is not: only that it has not been heard.
create or replace function app.is_alive(worker app.workers)
returns boolean
language sql stable
as $$
  select coalesce(worker.status = 'live' and worker.heartbeat_at >= now() - make_interval(secs => worker.lease_s), false)
$$;
