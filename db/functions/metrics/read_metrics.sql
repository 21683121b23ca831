-- Everything that is measured in the database, for the server's role alone: it tells of all tenants. Reads no tasks and no results:
-- queued work is ranges, running work is claims, what was done is counted. Of tenants and task types the `most` largest are named,
-- the others are one (_other, which is the name of none).
create or replace function app.read_metrics(most integer default 20)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set jit = off
as $$
begin
  if not app.is_server() then
    raise exception 'the measures of the service are not for tenants'
      using errcode = 'FF005', hint = 'ask with the role of the server: select app.map_role(<role>, null)';
  end if;
  return json_build_object(
    'queue', app.measure_queue(most),
    'jobs', app.measure_jobs(),
    'work', app.measure_work(most),
    'tallies', app.measure_tallies(most),
    'workers', (
      select json_build_object(
          'live', count(*), 'slots', coalesce(sum(w.slots), 0), 'busy', coalesce(sum(jsonb_array_length(w.running)), 0),
          'silent', count(*) filter (where w.heartbeat_at < now() - make_interval(secs => w.lease_s)))
        from app.workers w
       where w.status = 'live'),
    'janitor', app.janitor_health(),
    'parts', app.measure_parts(),
    'database', app.measure_database());
end $$;
grant execute on function app.read_metrics(integer) to fanfold_api, fanfold_admin;
