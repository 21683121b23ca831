-- Takes back what workers hold whose lease is over by the database's clock. Any process may call it, many at once.
-- A crash is counted apart from errors; a task that was held through three crashes is failed rather than tried again.
create or replace function app.reap_workers()
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_workers uuid[];
  v_claim app.claims;
  v_back record;
  v_tasks bigint := 0;
  v_types text[] := '{}'::text[];
  v_failed bigint[] := '{}'::bigint[];
  v_plans bigint[] := '{}'::bigint[];
begin
  v_workers := array(
    select w.worker_id from app.workers w
     where w.status = 'live' and w.heartbeat_at < now() - make_interval(secs => w.lease_s)
     order by w.worker_id
     for update skip locked);
  if v_workers = '{}' then
    return json_build_object('lost_workers', 0, 'tasks', 0);
  end if;
  update app.workers set status = 'lost', idle = false, ended_at = now() where worker_id = any (v_workers);
  perform 1 from app.claims k where k.worker_id = any (v_workers) order by k.claim_id for update;
  for v_claim in select * from app.claims k where k.worker_id = any (v_workers) order by k.claim_id loop
    v_tasks := v_tasks + app.held_count(v_claim.held);
    v_types := v_types || v_claim.task_type;
    v_back := app.take_back(v_claim);
    v_failed := v_failed || array(select v_claim.stage_id from generate_series(1, v_back.failed));
    if v_back.failed_plan then
      v_plans := v_plans || v_claim.stage_id;
    end if;
  end loop;
  perform app.settle(null, null, v_failed, v_plans, null);
  perform app.wake(array(select distinct t from unnest(v_types) t));
  return json_build_object('lost_workers', cardinality(v_workers), 'tasks', v_tasks);
end $$;
grant execute on function app.reap_workers() to fanfold_worker, fanfold_admin;
