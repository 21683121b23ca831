-- How many workers there are, for those who may not see them: live, silent beyond their lease, and the slots of the live.
create or replace function app.count_workers()
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  return (
    select json_build_object(
      'live', count(*) filter (where w.heartbeat_at > now() - make_interval(secs => w.lease_s)),
      'silent', count(*) filter (where w.heartbeat_at <= now() - make_interval(secs => w.lease_s)),
      'slots', coalesce(sum(w.slots) filter (where w.heartbeat_at > now() - make_interval(secs => w.lease_s)), 0))
      from app.workers w
     where w.status = 'live');
end $$;
grant execute on function app.count_workers() to fanfold_api, fanfold_worker, fanfold_admin;
