-- Takes back the claims of workers that were declared lost, and tells of it; those that others keep locked stay. Returns how many
-- tasks that were.
create or replace function app.take_back_all(run uuid, workers uuid[])
returns bigint
language plpgsql
as $$
declare
  v_ids bigint[] := app.lock_claims(workers);
  v_claim app.claims;
  v_back record;
  v_worker uuid;
  v_tenant text;
  v_suspects bigint;
  v_tasks bigint := 0;
  v_types text[] := '{}'::text[];
  v_failed bigint[] := '{}'::bigint[];
  v_plans bigint[] := '{}'::bigint[];
begin
  perform app.janitor_note(run, k.tenant_id, 'took_back', 'worker ' || k.worker_id, 'its lease was over', s.job_id, k.stage_id,
      jsonb_build_object('stage', s.name, 'tasks', k.tasks))
     from (
       select c.tenant_id, c.stage_id, c.worker_id, sum(app.held_count(c.held)) as tasks
         from app.claims c where c.claim_id = any (v_ids) group by 1, 2, 3) k
     join app.stages s on s.stage_id = k.stage_id;
  update app.workers w set went_back = app.held_by_tenant(w.worker_id) where w.worker_id = any (workers);
  for v_claim in select * from app.claims k where k.claim_id = any (v_ids) order by k.worker_id, k.tenant_id, k.claim_id loop
    if (v_claim.worker_id, v_claim.tenant_id) is distinct from (v_worker, v_tenant) then
      v_worker := v_claim.worker_id;
      v_tenant := v_claim.tenant_id;
      -- Its slots were busy; results of short tasks that had ended may not have been sent, so of many held it is a few more.
      select greatest(w.slots, (sum(app.held_count(k.held)) + 3) / 4) into v_suspects
        from app.workers w join app.claims k on k.worker_id = w.worker_id
       where w.worker_id = v_worker and k.tenant_id = v_tenant
       group by w.slots;
    end if;
    v_tasks := v_tasks + app.held_count(v_claim.held);
    v_types := v_types || v_claim.task_type;
    v_back := app.take_back(v_claim, v_suspects);
    v_suspects := v_suspects - app.held_count(v_claim.held);
    v_failed := v_failed || array(select v_claim.stage_id from generate_series(1, v_back.failed));
    if v_back.failed_plan then
      v_plans := v_plans || v_claim.stage_id;
    end if;
  end loop;
  perform app.settle(null, null, v_failed, v_plans, null);
  perform app.wake(array(select distinct t from unnest(v_types) t));
  return v_tasks;
end $$;
