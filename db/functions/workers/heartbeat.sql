-- Keeps all claims of a worker alive and tells it which of those it names are no longer its own. request: {worker_id, running, claims, memory_used_mb?,
-- rss_mb?: of its process, draining?: it takes nothing more, counts?: what changed of its cumulative counts, see store_counts, plans_kept_s?: so long it need not name plans}.
create or replace function app.heartbeat(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  c_running constant jsonpath := jsonpath '$[*] ? (@.claim_id.type() == "number" && @.claim_id >= 0 && @.claim_id < 9e18 && @.claim_id.floor() == @.claim_id
    && @.stage_id.type() == "number" && @.stage_id >= 0 && @.stage_id < 9e18 && @.stage_id.floor() == @.stage_id
    && @.ordinal.type() == "number" && @.ordinal >= -1 && @.ordinal < 9e18 && @.ordinal.floor() == @.ordinal && @.elapsed_s.type() == "number" && @.elapsed_s >= 0 && @.elapsed_s < 1e8
    && (!exists (@.timeout_s) || (@.timeout_s.type() == "number" && @.timeout_s > 0 && @.timeout_s < 1e9)))';
  v_worker uuid := (request ->> 'worker_id')::uuid;
  v_claims bigint[] := array(select c::bigint from json_array_elements_text(coalesce(request -> 'claims', '[]')) c);
  v_lease integer;
  v_claim app.claims;
  v_types text[] := '{}'::text[];
begin
  if app.may_hold_wild_numbers((request -> 'running')::text) then
    perform app.refuse_wild_numbers((request -> 'running')::jsonb);
  end if;
  update app.workers
     set heartbeat_at = now(), backend_pid = pg_backend_pid(), memory_used_mb = greatest((request ->> 'memory_used_mb')::integer, 0),
         rss_mb = nullif(greatest((request ->> 'rss_mb')::integer, 0), 0),
         draining_at = case when (request ->> 'draining')::boolean then coalesce(draining_at, now()) end,
         -- Others read this with casts: what is not as it should be is left out.
         running = coalesce(jsonb_path_query_array((request -> 'running')::jsonb, c_running), '[]')
   where worker_id = v_worker and status = 'live' and app.is_my_worker(v_worker)
  returning lease_s into v_lease;
  if not found then
    return json_build_object('ok', false, 'lost', array_to_json(v_claims), 'abort', '[]'::json);
  end if;
  if request -> 'counts' is not null then
    perform app.store_counts(v_worker, request -> 'counts');
  end if;
  -- A claim whose reply never reached the worker would be kept alive for ever by heartbeats that do not know of it:
  -- what is not named although it is older than a heartbeat goes back unharmed.
  for v_claim in
    select * from app.claims k
     where k.worker_id = v_worker
       and k.claim_id <> all (v_claims)
       and k.claimed_at < now() - make_interval(secs => v_lease / 3.0)
       -- A server plans in the name of a worker that does not know of it.
       and (k.task_type <> '#plan' or k.claimed_at < now() - make_interval(secs => coalesce((request ->> 'plans_kept_s')::double precision, 0)))
     order by k.claim_id
     for update skip locked
  loop
    perform app.put_back(v_claim, v_claim.held, 0);
    delete from app.claims where claim_id = v_claim.claim_id;
    v_types := v_types || v_claim.task_type;
  end loop;
  perform app.wake(array(select distinct t from unnest(v_types) t));
  return json_build_object(
    'ok', true,
    'lost', array_to_json(array(
      select c from unnest(v_claims) c
       where not exists (select from app.claims k where k.claim_id = c and k.worker_id is not distinct from v_worker))),
    'abort', array_to_json(array(
      select array[(r ->> 'claim_id')::bigint, (r ->> 'ordinal')::bigint]
        from json_array_elements(coalesce(request -> 'running', '[]')) r
        join app.claims k on k.claim_id = (r ->> 'claim_id')::bigint and k.worker_id is not distinct from v_worker
       where not k.held @> (r ->> 'ordinal')::bigint)));
end $$;
grant execute on function app.heartbeat(json) to fanfold_worker, fanfold_admin;
