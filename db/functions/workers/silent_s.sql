-- For how many seconds a live worker has not been heard, where it should have been: its session is gone, or more than a heartbeat is
-- missing. Null for one that is heard as usual.
create or replace function app.silent_s(worker app.workers)
returns integer
language sql stable
as $$
  select case
    when worker.status = 'live' and (worker.heartbeat_at < now() - make_interval(secs => worker.lease_s / 2.0) or not app.is_connected(worker))
      then greatest(extract(epoch from now() - worker.heartbeat_at), 0)::integer
  end
$$;
