-- For the janitor: a pending delivery whose task is no more (it failed or was cancelled, which must not matter) gets another.
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
  v_own text := app.worker_tenant();
  v_delivery app.webhook_deliveries;
  v_stage bigint;
  v_seen integer := 0;
  v_swept integer := 0;
begin
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
    v_stage := app.standing_stage(v_delivery.tenant_id, 'connector.webhook.deliver');
    continue when exists (
        select from app.ready r where r.stage_id = v_stage and r.hi > v_delivery.task_ordinal and r.lo <= v_delivery.task_ordinal)
      or exists (select from app.claims k where k.stage_id = v_stage and k.held @> v_delivery.task_ordinal);
    perform app.requeue_delivery(v_delivery, now());
    perform app.janitor_note(run, v_delivery.tenant_id, 'requeued_delivery', 'delivery ' || v_delivery.delivery_id,
      'its task ended without sending it', v_delivery.job_id, v_stage);
    v_swept := v_swept + 1;
  end loop;
  return json_build_object('swept', v_swept, 'alerts', '[]'::json,
    'next', case when v_seen = c_page then json_build_array(v_delivery.next_at, v_delivery.delivery_id) end);
end $$;
grant execute on function app.sweep_deliveries(uuid, json) to fanfold_worker, fanfold_admin;
