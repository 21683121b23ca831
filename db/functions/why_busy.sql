-- Every live worker that could run it holds as many tasks as it has slots: how many of the tenant's queue are before it, and when it
-- comes at the pace of the last minutes. Null when a slot is free.
create or replace function app.why_busy(stage app.stages, queued app.ready, type text, ordinal bigint)
returns json
language plpgsql stable
as $$
declare
  v_workers record;
  v_before bigint;
  v_rate double precision;
begin
  select count(*) as workers, sum(w.slots) as slots, sum(h.held) as held, bool_and(h.held >= w.slots) as busy into v_workers
    from app.serving_workers(stage.tenant_id, type) w
    cross join lateral (select coalesce(sum(app.held_count(k.held)), 0) as held from app.claims k where k.worker_id = w.worker_id) h;
  if not v_workers.busy then
    return null;
  end if;
  select coalesce(sum(r.hi - r.lo), 0) + (why_busy.ordinal - queued.lo) into v_before
    from app.ready r
   where r.task_type = queued.task_type and r.tenant_id = queued.tenant_id and r.run_at <= now()
     and (-r.priority::integer, r.run_at, r.ready_id) < (-queued.priority::integer, queued.run_at, queued.ready_id);
  v_rate := app.completion_rate(stage, type);
  return app.verdict('WORKERS_BUSY', format('all slots (%s) of the live workers (%s) that register %s are taken; tasks of this tenant before %s in the queue: %s',
      v_workers.slots, v_workers.workers, type, app.task_name(stage, ordinal), v_before),
    json_build_object('task_type', type, 'live_workers', v_workers.workers, 'slots', v_workers.slots, 'held', v_workers.held, 'before', v_before,
      'per_s', round(v_rate::numeric, 3), 'run_at', queued.run_at),
    greatest(queued.run_at, stage.opened_at),
    -- Years from now is no forecast, and an interval that long is no interval.
    case when v_before / v_rate < 3e7 then now() + make_interval(secs => v_before / v_rate) end,
    'when a slot is free and its turn has come', 'fanfold up');
end $$;
