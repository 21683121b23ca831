-- The claim of an idle worker that was told of one type: where a single task is all that waits of it, it is taken in a few statements that know
-- what they look for. Everything else, and what is locked, paused, capped, bounded in parallel or has crashed a worker, is left to `claim`, whose
-- request comes along: this gives only what that would have given. `known`: stages whose facts the worker has. See claim.
create or replace function app.claim_hinted(worker uuid, type text, known bigint[], request text)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_only_tenant text := app.worker_tenant();
  v_row record;
  v_stage record;
  v_reply json;
begin
  perform set_config('synchronous_commit', 'off', true), app.assert_live_worker(worker, v_only_tenant);
  select r.ready_id, r.stage_id, r.lo, r.hi, r.tenant_id, r.priority, r.attempt, r.throttles, r.task_bytes
    into v_row
    from app.ready r
   where r.task_type = type and r.turn >= 0 and r.run_at <= now() and r.lo >= 0 and r.hi = r.lo + 1 and r.crashes = 0
     and (v_only_tenant is null or r.tenant_id = v_only_tenant)
     and (select count(*) from (select from app.ready o where o.task_type = type limit 2) few) = 1
     and not exists (select from app.paused_types)
     and not exists (select from app.moving_tenants)
     and not exists (select from app.limits l where l.concurrent_tasks is not null)
     for update skip locked;
  if not found then
    return app.claim(request::json);
  end if;
  -- A look of its own, after the lock: a verb that pauses or cancels a job goes by its ranges, too.
  select s.job_id, case
      when s.stage_id = any (known) and s.epoch = 1 then '[]'
      when s.after = '{}' then json_build_array(app.stage_fact(s, j, '[]'))
      else app.stage_facts(array[s.stage_id])
    end as facts
    into v_stage
    from app.stages s
    left join app.jobs j on j.tenant_id = s.tenant_id and j.job_id = s.job_id
   where s.stage_id = v_row.stage_id and app.runs_alone(s);
  if not found then
    return app.claim(request::json);
  end if;
  with gone as (
    delete from app.ready r where r.ready_id = v_row.ready_id
  ),
  made as (
    insert into app.claims (stage_id, worker_id, tenant_id, task_type, priority, attempt, throttles, task_bytes, held)
    values (
      v_row.stage_id, worker, v_row.tenant_id, type, v_row.priority, v_row.attempt, v_row.throttles, v_row.task_bytes,
      int8multirange(int8range(v_row.lo, v_row.hi)))
    returning claim_id
  )
  select json_build_object(
      'claims', json_build_array(json_build_object(
        'claim_id', m.claim_id, 'stage_id', v_row.stage_id, 'attempt', v_row.attempt, 'crashes', 0,
        'tasks', coalesce((
          select json_build_array(json_build_array(t.ordinal, t.index, t.parameters, t.metadata))
            from app.tasks t
           where t.stage_id = v_row.stage_id and t.ordinal = v_row.lo), '[]'))),
      'stages', v_stage.facts, 'after_tenant', v_row.tenant_id)
    into v_reply
    from made m;
  if v_stage.job_id is not null and v_row.lo = 0 and v_row.attempt = 1 then
    -- As mark_started, of the one job.
    update app.jobs j
       set status = 'processing', started_at = now()
     where j.ctid = any (array(
       select q.ctid
         from app.jobs q
        where q.tenant_id = v_row.tenant_id and q.job_id = v_stage.job_id and q.status = 'queued'
          for no key update skip locked));
  end if;
  return v_reply;
end $$;
grant execute on function app.claim_hinted(uuid, text, bigint[], text) to fanfold_worker, fanfold_admin;
