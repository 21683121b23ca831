-- The queues of a tenant, one for each task type that waits, runs, is paused or ran within the day; those with a problem first. What
-- waits is counted in its ranges, up to so many of a type: beyond that it is as it was when the queues were last looked at
-- (`counted_at`). `minutes`: how far the history goes back, in at most 120 points.
create or replace function app.list_queues(minutes integer default 60, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  c_types constant integer := 500;
  v_tenant text := app.acting_tenant(tenant);
  v_minutes integer := coalesce(minutes, 60);
  v_step integer;
  v_points integer;
  v_from timestamptz;
begin
  if v_minutes not between 1 and 1440 then
    raise exception 'a history has 1 to 1440 minutes, not %', v_minutes using errcode = 'FF002';
  end if;
  v_step := (v_minutes + 119) / 120;
  v_points := (v_minutes + v_step - 1) / v_step;
  v_from := date_trunc('minute', now()) - make_interval(mins => v_points * v_step - 1);
  return (
    with types as materialized (
      select t.task_type from app.types_of_queues(v_tenant, c_types + 1) t
    ),
    serving as materialized (select w.types, w.slots, w.memory_mb, w.too_large from app.serving_workers(v_tenant, null) w),
    running as materialized (
      select k.task_type, sum(app.held_count(k.held)) as tasks from app.claims k where k.tenant_id = v_tenant group by 1
    ),
    sampled as materialized (
      select distinct (extract(epoch from s.minute - v_from) / 60)::integer / v_step as point from app.rate_samples s where s.minute >= v_from
    ),
    queues as (
      select t.task_type, d.due, d.later, d.retrying, d.oldest_at, d.counted_at, d.stage_id, d.ordinal, coalesce(k.tasks, 0) as running,
        z.paused_at, z.paused_by, z.reason, w.workers, w.slots, w.needed_mb, w.most_mb, w.there, (
          select json_build_object('completed', round(sum(m.completed) / span.minutes, 2), 'failed', round(sum(m.failed) / span.minutes, 2))
            from (select extract(epoch from now() - date_trunc('minute', now()) + interval '5 minutes') / 60 as minutes) span,
              app.rate_minutes m
           where m.tenant_id = v_tenant and m.task_type = t.task_type and m.minute >= date_trunc('minute', now()) - interval '5 minutes'
           group by span.minutes) as per_minute,
        h.history
        from types t
        cross join lateral app.queue_depth(v_tenant, t.task_type) d
        cross join lateral (
          select count(*) filter (where t.task_type = any (s.types)) as workers, coalesce(sum(s.slots) filter (where t.task_type = any (s.types)), 0) as slots,
            max((s.too_large -> t.task_type)::numeric) filter (where jsonb_typeof(s.too_large -> t.task_type) = 'number') as needed_mb,
            max(s.memory_mb) filter (where jsonb_typeof(s.too_large -> t.task_type) = 'number') as most_mb, count(*) as there
            from serving s) w
        cross join lateral (
          select case when count(m.point) > 0 then json_build_object('from', v_from, 'step_s', v_step * 60,
              'completed', json_agg(coalesce(m.completed, 0) order by p.point), 'failed', json_agg(coalesce(m.failed, 0) order by p.point),
              -- Null: nobody looked.
              'queued', json_agg(case when a.point is not null then coalesce(m.queued, 0) end order by p.point),
              'running', json_agg(case when a.point is not null then coalesce(m.running, 0) end order by p.point)) end as history
            from generate_series(0, v_points - 1) p(point)
            left join sampled a on a.point = p.point
            left join (
              select (extract(epoch from r.minute - v_from) / 60)::integer / v_step as point, greatest(sum(r.completed), 0) as completed,
                greatest(sum(r.failed), 0) as failed, max(r.due + r.later) as queued, max(r.running) as running
                from app.rate_minutes r
               where r.tenant_id = v_tenant and r.task_type = t.task_type and r.minute >= v_from
               group by 1) m on m.point = p.point) h
        left join running k on k.task_type = t.task_type
        left join app.paused_types z on z.tenant_id = v_tenant and z.task_type = t.task_type
       limit c_types
    )
    select json_build_object(
      'queues', coalesce(json_agg(json_build_object(
        'task_type', q.task_type, 'due', q.due, 'later', q.later, 'retrying', q.retrying, 'running', q.running, 'oldest_at', q.oldest_at,
        'oldest_job_id', (select s.job_id from app.stages s where s.stage_id = q.stage_id),
        'oldest_task_id', case when q.ordinal >= 0 then q.stage_id || '-' || q.ordinal end, 'counted_at', q.counted_at,
        'paused', case when q.paused_at is not null then json_build_object('at', q.paused_at, 'by', q.paused_by, 'reason', q.reason) end,
        'workers', q.workers, 'slots', q.slots, 'problem', v.problem,
        'per_minute', coalesce(q.per_minute, json_build_object('completed', 0, 'failed', 0)), 'history', q.history)
        order by v.problem is null, q.oldest_at nulls last, q.task_type), '[]'),
      'more', (select count(*) from types) > c_types)
      from queues q
      cross join lateral (select app.queue_problem(q.task_type, q.due + q.later, q.paused_by, q.reason, q.workers, q.there, q.needed_mb, q.most_mb) as problem) v);
end $$;
grant execute on function app.list_queues(integer, text) to fanfold_api, fanfold_admin;
