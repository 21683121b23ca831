-- Hands tasks back unharmed: the same attempt, no budget spent. items: [{c, o: [ordinals], started?: [ordinals]}]; only an
-- attempt that had started leaves a row.
create or replace function app.release(worker uuid, items json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_item record;
  v_claim app.claims;
  v_back int8multirange;
  v_released bigint := 0;
  v_types text[] := '{}'::text[];
begin
  perform app.assert_my_worker(worker);
  for v_item in
    select i.c, range_agg(int8range(e::bigint, e::bigint + 1)) as mr, (array_agg(i.started))[1] as started
      from json_to_recordset(items) as i(c bigint, o json, started jsonb), json_array_elements_text(i.o) e
     group by i.c
     order by i.c
  loop
    select * into v_claim from app.claims k where k.claim_id = v_item.c and k.worker_id is not distinct from worker for update;
    continue when not found;
    v_back := v_claim.held * v_item.mr;
    continue when isempty(v_back);
    insert into app.attempts (tenant_id, stage_id, ordinal, attempt, epoch, outcome, worker_id)
    select v_claim.tenant_id, v_claim.stage_id, e::bigint, v_claim.attempt, s.epoch, 'released', worker
      from app.stages s, jsonb_array_elements_text(case jsonb_typeof(v_item.started) when 'array' then v_item.started else '[]' end) e
     where v_back @> e::bigint and s.stage_id = v_claim.stage_id;
    perform app.put_back(v_claim, v_back, 0);
    perform app.let_go(array[v_item.c], array[v_back]);
    v_released := v_released + app.held_count(v_back);
    v_types := v_types || v_claim.task_type;
  end loop;
  perform app.wake(array(select distinct t from unnest(v_types) t));
  return json_build_object('released', v_released);
end $$;
grant execute on function app.release(uuid, json) to fanfold_worker, fanfold_admin;
