-- A worker leaves: whatever it still holds goes back unharmed, here or, where others keep it locked, with sweep_claims. What it said it
-- was running leaves an attempt.
create or replace function app.stop_worker(worker uuid)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_ids bigint[];
  v_claim app.claims;
  v_released bigint := 0;
  v_types text[] := '{}'::text[];
  v_went_back jsonb;
begin
  perform app.assert_my_worker(worker);
  -- A claim under way holds this row: it commits first and is handed back here, or comes after and is refused.
  perform 1 from app.workers w where w.worker_id = worker for update;
  insert into app.attempts (tenant_id, stage_id, ordinal, attempt, epoch, outcome, worker_id)
  select k.tenant_id, k.stage_id, (r ->> 'ordinal')::numeric::bigint, k.attempt, s.epoch, 'released', worker
    from app.workers w
    cross join lateral jsonb_array_elements(w.running) r
    join app.claims k on k.claim_id = (r ->> 'claim_id')::numeric::bigint and k.worker_id = worker and k.held @> (r ->> 'ordinal')::numeric::bigint
    join app.stages s on s.stage_id = k.stage_id
   where w.worker_id = worker;
  v_went_back := app.held_by_tenant(worker);
  perform app.wait_briefly();
  v_ids := app.lock_claims(array[worker]);
  for v_claim in select * from app.claims k where k.claim_id = any (v_ids) order by k.claim_id loop
    perform app.put_back(v_claim, v_claim.held, 0);
    delete from app.claims where claim_id = v_claim.claim_id;
    v_released := v_released + app.held_count(v_claim.held);
    v_types := v_types || v_claim.task_type;
  end loop;
  update app.workers
     set status = 'stopped', idle = false, ended_at = now(), running = '[]', went_back = v_went_back
   where worker_id = worker and status = 'live';
  perform app.wake(array(select distinct t from unnest(v_types) t));
  return json_build_object('released', v_released);
end $$;
grant execute on function app.stop_worker(uuid) to fanfold_worker, fanfold_admin;
