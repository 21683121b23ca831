-- Fails attempts that run longer than their time-out although their worker is alive and should have ended them a minute ago. The
-- worker is told with its next heartbeat. One worker a call; `after` is the `next` of the call before. Tenant by tenant, `held` and `skip` as with
-- expire_jobs.
create or replace function app.expire_tasks(run uuid default null, after uuid default null, skip json default '[]')
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  c_grace_s constant integer := 60;
  v_own text := app.worker_tenant();
  v_skip text[] := array(select json_array_elements_text(skip));
  v_worker uuid;
  v_tenant text;
  v_held text;
  v_done bigint;
  v_told jsonb;
  v_late record;
  v_expired bigint := 0;
  v_failed bigint[];
  v_plans bigint[];
  v_alerts jsonb := '[]'::jsonb;
begin
  perform app.wait_briefly();
  select w.worker_id into v_worker
    from app.workers w
   where w.status = 'live' and (v_own is null or w.tenant_id = v_own) and w.worker_id > coalesce(after, '00000000-0000-0000-0000-000000000000')
     and exists (
       select from jsonb_array_elements(w.running) r
         join app.stages s on s.stage_id = (r ->> 'stage_id')::numeric::bigint
        where (r ->> 'elapsed_s')::numeric > coalesce((r ->> 'timeout_s')::numeric, s.timeout_s) + c_grace_s)
   order by w.worker_id
   limit 1;
  if not found then
    return json_build_object('expired', 0, 'next', null, 'alerts', '[]'::json);
  end if;
  for v_tenant in select distinct k.tenant_id from app.claims k where k.worker_id = v_worker and k.tenant_id <> all (v_skip) order by 1 loop
    v_done := 0;
    v_told := '[]'::jsonb;
    v_failed := '{}'::bigint[];
    v_plans := '{}'::bigint[];
    begin
      perform 1 from app.claims k where k.worker_id = v_worker and k.tenant_id = v_tenant order by k.claim_id for update;
      for v_late in
        -- Read anew under the locks: what has been finished or taken back meanwhile is not there any more.
        select k.claim_id, k.stage_id, k.tenant_id, s.job_id, s.name, coalesce((r ->> 'timeout_s')::numeric, s.timeout_s) as timeout_s, (r ->> 'ordinal')::numeric::bigint as ordinal, (r ->> 'elapsed_s')::numeric as elapsed_s
          from app.workers w
          cross join lateral jsonb_array_elements(w.running) r
          join app.claims k on k.claim_id = (r ->> 'claim_id')::numeric::bigint and k.worker_id = v_worker and k.held @> (r ->> 'ordinal')::numeric::bigint
          join app.stages s on s.stage_id = k.stage_id
         where w.worker_id = v_worker and k.tenant_id = v_tenant
           and (r ->> 'elapsed_s')::numeric > coalesce((r ->> 'timeout_s')::numeric, s.timeout_s) + c_grace_s
         order by k.claim_id
      loop
        if not app.fail_attempt(v_worker, v_late.claim_id, v_late.ordinal, least(v_late.elapsed_s * 1000, 2147483647)::integer, 'transient', 'timeout',
            'the task ran longer than its time-out of ' || v_late.timeout_s || ' s, and its worker did not end it', null, null) then
          if v_late.ordinal < 0 then
            v_plans := v_plans || v_late.stage_id;
          else
            v_failed := v_failed || v_late.stage_id;
          end if;
        end if;
        perform app.let_go(array[v_late.claim_id], array[int8multirange(int8range(v_late.ordinal, v_late.ordinal + 1))]);
        perform app.janitor_note(run, v_late.tenant_id, 'timed_out', 'task ' || v_late.stage_id || '-' || v_late.ordinal,
          'it ran for ' || v_late.elapsed_s || ' s, its time-out is ' || v_late.timeout_s || ' s', v_late.job_id, v_late.stage_id);
        v_told := v_told || app.alert(v_late.tenant_id, 'task_overdue', 'task ' || v_late.stage_id || '-' || v_late.ordinal,
          'worker ' || v_worker || ' did not end a task that was past its time-out', v_late.job_id, v_late.stage_id);
        v_done := v_done + 1;
      end loop;
      perform app.settle(null, null, v_failed, v_plans, null);
      set constraints app.groups_are_settled_at_commit immediate;
    exception
      when lock_not_available then
        v_done := 0;
        v_told := '[]'::jsonb;
        v_held := v_tenant;
      when others then
        if left(sqlstate, 2) in ('40', '53', '57', '58') then
          raise;
        end if;
        v_done := 0;
        v_told := app.alert(v_tenant, 'expire_failed', 'worker ' || v_worker, 'its overdue tasks could not be failed: ' || sqlerrm);
    end;
    v_expired := v_expired + v_done;
    v_alerts := v_alerts || v_told;
  end loop;
  return json_build_object('expired', v_expired, 'next', v_worker, 'alerts', app.visible_alerts(v_alerts), 'held', v_held);
end $$;
grant execute on function app.expire_tasks(uuid, uuid, json) to fanfold_worker, fanfold_admin;
