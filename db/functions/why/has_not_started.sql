-- A live worker has sent a heartbeat since it claimed this, more than a heartbeat ago: what that did not name has not started. Before
-- that, rows do not say.
create or replace function app.has_not_started(claim app.claims, worker app.workers)
returns boolean
language sql stable
as $$
  select worker.heartbeat_at > claim.claimed_at and claim.claimed_at < now() - make_interval(secs => worker.lease_s / 3.0)
$$;
