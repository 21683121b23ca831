-- A claim for a worker that speaks over HTTP, of the session's tenant: one call, one transaction. Planning that is data comes first and alone,
-- for the server that asks: {plan: claim}. Otherwise {plan: null, replies: [as claim answers], idle}: of each type in `per_type` no more than it
-- says, of all together no more than `limit`. `idle`: it was written idle before, so that what comes after this look is told of.
-- request: {worker_id, limit, per_type?: {type: most}, known?, turns?}. A worker that gets all it asked for is no longer idle: it comes again by itself.
create or replace function app.claim_for(request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_tenant text := app.worker_tenant();
  v_worker app.workers;
  v_left bigint := (request ->> 'limit')::bigint;
  v_types text[];
  v_turns jsonb := coalesce((request -> 'turns')::jsonb, '{}');
  v_reply json;
  v_replies json[] := '{}'::json[];
  v_group record;
  v_looked boolean := false;
begin
  select * into v_worker
    from app.workers w
   where w.worker_id = (request ->> 'worker_id')::uuid and w.status = 'live' and (v_tenant is null or w.tenant_id = v_tenant);
  if not found then
    raise exception 'worker % is not registered or was declared lost', request ->> 'worker_id'
      using errcode = 'FF007', hint = 'register again under a fresh worker id';
  end if;
  if '#plan' = any (v_worker.types)
     and exists (select from app.ready r where r.task_type = '#plan' and r.tenant_id = v_tenant and r.run_at <= now()) then
    v_reply := app.claim(json_build_object('worker_id', v_worker.worker_id, 'types', array['#plan'], 'limit', 1, 'no_wait', array[v_tenant]));
    v_looked := true;
    if json_array_length(v_reply -> 'claims') > 0 then
      return json_build_object('plan', v_reply -> 'claims' -> 0);
    end if;
  end if;
  v_types := array_remove(v_worker.types, '#plan');
  for v_group in
    select array[p.key] as types, p.value::bigint as most from json_each_text(request -> 'per_type') p where p.key = any (v_types) and p.value::bigint > 0
    union all
    select array(select t from unnest(v_types) t where request -> 'per_type' -> t is null), null
  loop
    continue when cardinality(v_group.types) = 0;
    exit when v_left <= 0;
    -- Only the first look may wait for a row: who may hold something never does.
    v_reply := app.claim(json_build_object(
      'worker_id', v_worker.worker_id, 'types', v_group.types, 'limit', least(v_left, coalesce(v_group.most, v_left)), 'turns', v_turns,
      'known', coalesce(request -> 'known', '[]'), 'no_wait', case when v_looked then array[v_tenant] else '{}'::text[] end));
    v_looked := true;
    v_replies := v_replies || v_reply;
    v_turns := v_turns || (v_reply -> 'turns')::jsonb;
    v_left := v_left - (select coalesce(sum(json_array_length(c -> 'tasks')), 0) from json_array_elements(v_reply -> 'claims') c);
  end loop;
  if v_worker.idle and v_left <= 0 then
    update app.workers w set idle = false where w.worker_id = v_worker.worker_id;
  end if;
  return json_build_object('plan', null, 'idle', v_worker.idle, 'replies', array_to_json(v_replies), 'turns', v_turns);
end $$;
grant execute on function app.claim_for(json) to fanfold_worker, fanfold_admin;
