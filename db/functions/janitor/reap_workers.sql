-- Takes back what workers hold whose lease is over by the database's clock. Any process may call it, many at once: a worker's row
-- is locked before it is declared lost, and a heartbeat that came meanwhile counts. A crash is counted apart from errors. What
-- cannot be taken back in one go, or is held by somebody's open transaction, is left to sweep_claims, claim by claim.
create or replace function app.reap_workers(run uuid default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_own text := app.worker_tenant();
  v_workers uuid[];
  v_tasks bigint := 0;
  v_alerts jsonb := '[]'::jsonb;
begin
  perform app.wait_briefly();
  v_workers := array(
    select w.worker_id from app.workers w
     where w.status = 'live' and (v_own is null or w.tenant_id = v_own) and w.heartbeat_at < now() - make_interval(secs => w.lease_s)
       -- While the server was down nobody could send a heartbeat: who was alive shortly before gets a lease's time to show up.
       and not (now() < pg_postmaster_start_time() + make_interval(secs => w.lease_s)
         and w.heartbeat_at > pg_postmaster_start_time() - interval '10 minutes')
     order by w.worker_id
     limit 50
     for update skip locked);
  if v_workers = '{}' then
    return json_build_object('lost_workers', 0, 'tasks', 0, 'more', false, 'alerts', '[]'::json);
  end if;
  update app.workers set status = 'lost', idle = false, ended_at = now() where worker_id = any (v_workers);
  insert into app.tallies (name, amount) values ('workers_lost', cardinality(v_workers));
  begin
    v_tasks := app.take_back_all(run, v_workers);
    set constraints app.groups_are_settled_at_commit immediate;
  exception
    when lock_not_available then v_tasks := 0;
    when others then
      if left(sqlstate, 2) in ('40', '53', '57', '58') then
        raise;
      end if;
      v_alerts := app.alert(coalesce(v_own, 'default'), 'take_back_failed', array_to_string(v_workers, ' '),
        'the claims of dead workers could not be taken back together: ' || sqlerrm);
  end;
  return json_build_object('lost_workers', cardinality(v_workers), 'tasks', v_tasks, 'more', cardinality(v_workers) = 50, 'alerts', app.visible_alerts(v_alerts));
end $$;
grant execute on function app.reap_workers(uuid) to fanfold_worker, fanfold_admin;
