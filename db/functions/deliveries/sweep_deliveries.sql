-- For the janitor: a pending delivery whose task is no more (it failed, crashed too often or was cancelled) gets another, as after
-- a try that failed: what takes its workers down is tried less and less, and not for ever.
-- `after` is the `next` of the page before: [time, id].
create or replace function app.sweep_deliveries(run uuid default null, after json default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  c_page constant integer := 500;
  c_lost constant text := 'task_lost: its task ended without telling how it went';
  v_own text := app.worker_tenant();
  v_delivery app.webhook_deliveries;
  v_stage bigint;
  v_seen integer := 0;
  v_swept integer := 0;
  v_wait double precision;
  -- Tenants for whose locks it would not wait any longer.
  v_held text[] := '{}'::text[];
begin
  perform app.wait_briefly();
  for v_delivery in
    select d.*
      from app.webhook_deliveries d
     where d.status = 'pending' and d.next_at < now() - interval '1 minute' and d.tenant_id = coalesce(v_own, d.tenant_id)
       and (after is null or (d.next_at, d.delivery_id) > ((after ->> 0)::timestamptz, after ->> 1))
     order by d.next_at, d.delivery_id
     limit c_page
       for update skip locked
  loop
    v_seen := v_seen + 1;
    continue when v_delivery.tenant_id = any (v_held);
    begin
      v_stage := app.standing_stage(v_delivery.tenant_id, 'connector.webhook.deliver');
      continue when exists (
          select from app.ready r where r.stage_id = v_stage and r.hi > v_delivery.task_ordinal and r.lo <= v_delivery.task_ordinal)
        or exists (select from app.claims k where k.stage_id = v_stage and k.held @> v_delivery.task_ordinal);
      v_delivery.attempts := v_delivery.attempts + 1;
      insert into app.webhook_attempts (tenant_id, delivery_id, ticket, series, error)
      values (v_delivery.tenant_id, v_delivery.delivery_id, v_delivery.ticket, v_delivery.series, c_lost)
      on conflict do nothing;
      update app.webhook_deliveries d
         set attempts = v_delivery.attempts, last_status = null, last_error = c_lost
       where d.tenant_id = v_delivery.tenant_id and d.delivery_id = v_delivery.delivery_id;
      v_wait := (app.webhook_schedule())[v_delivery.attempts + 1];
      if v_wait is null then
        perform app.end_delivery(v_delivery, 'failed', c_lost || ', and no try is left');
      else
        perform app.requeue_delivery(v_delivery, now() + make_interval(secs => v_wait));
      end if;
      perform app.janitor_note(run, v_delivery.tenant_id, case when v_wait is null then 'failed_delivery' else 'requeued_delivery' end,
        'delivery ' || v_delivery.delivery_id, c_lost, v_delivery.job_id, v_stage);
      v_swept := v_swept + 1;
    exception
      when lock_not_available then v_held := v_held || v_delivery.tenant_id;
    end;
  end loop;
  return json_build_object('swept', v_swept, 'alerts', '[]'::json,
    'next', case when v_seen = c_page then json_build_array(v_delivery.next_at, v_delivery.delivery_id) end);
end $$;
grant execute on function app.sweep_deliveries(uuid, json) to fanfold_worker, fanfold_admin;
