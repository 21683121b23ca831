-- Every live worker that could run it holds as many tasks as it has slots: whose they are, how many go before it in its tenant's turns, and
-- when it comes at the pace of the last minutes. Null when a slot is free.
create or replace function app.why_busy(stage app.stages, queued app.ready, type text, ordinal bigint)
returns json
language plpgsql stable
as $$
declare
  v_workers record;
  v_before bigint;
  v_rate double precision;
  v_holders json;
  v_first json;
  v_own boolean;
begin
  select count(*) as workers, sum(w.slots) as slots, sum(h.held) as held, bool_and(h.held >= w.slots) as busy, array_agg(w.worker_id) as ids,
      array(select distinct t from app.serving_workers(stage.tenant_id, why_busy.type) o, unnest(o.types) t) as types
    into v_workers
    from app.serving_workers(stage.tenant_id, why_busy.type) w
    cross join lateral (select coalesce(sum(app.held_count(k.held)), 0) as held from app.claims k where k.worker_id = w.worker_id) h;
  if not v_workers.busy then
    return null;
  end if;
  v_before := app.turns_before(queued, ordinal, v_workers.types);
  v_rate := app.completion_rate(stage, type);
  v_holders := app.who_holds(stage.tenant_id, v_workers.ids);
  v_first := v_holders -> 0;
  v_own := v_first ->> 'job_id' is not distinct from stage.job_id;
  return app.verdict('WORKERS_BUSY', format('%s slots of the live workers (%s) that register %s are taken%s; %s, %s before %s%s',
      v_workers.slots, v_workers.workers, type,
      case
        when v_first is null then ' by other tenants'
        else format(' by %s%s%s', case
            when v_first ->> 'job_id' is null then 'lone tasks of ' || (v_first ->> 'task_type')
            when v_own then 'its own job'
            else (v_first ->> 'job_type') || ' ' || left(v_first ->> 'job_id', 12)
          end,
          ' (' || to_char((v_first ->> 'left')::bigint, 'FM999,999,999,999') || ' tasks to go)',
          case when json_array_length(v_holders) > 1 then format(' and %s%s more', case when json_array_length(v_holders) = 5 then 'at least ' else '' end,
            json_array_length(v_holders) - 1) else '' end)
      end,
      'jobs take turns', case when v_before = 1 then '1 task' else to_char(v_before, 'FM999,999,999,999') || ' tasks' end, app.task_name(stage, ordinal),
      case when v_before / v_rate < 3e7 then format(', about %s s', ceil(v_before / v_rate)) else '' end),
    json_build_object('task_type', type, 'live_workers', v_workers.workers, 'slots', v_workers.slots, 'held', v_workers.held, 'before', v_before,
      'per_s', round(v_rate::numeric, 3), 'run_at', queued.run_at, 'ahead', v_holders),
    greatest(queued.run_at, stage.opened_at),
    -- Years from now is no forecast, and an interval that long is no interval.
    case when v_before / v_rate < 3e7 then now() + make_interval(secs => v_before / v_rate) end,
    'when a slot is free and its turn has come', app.action('up'));
end $$;
