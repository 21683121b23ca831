-- No live worker lists the type and serves the tenant: what those that are there do list. Null when there is one.
create or replace function app.why_no_worker(stage app.stages, queued app.ready, type text, ordinal bigint)
returns json
language plpgsql stable
as $$
begin
  if exists (select from app.serving_workers(stage.tenant_id, type)) then
    return null;
  end if;
  return (
    select app.verdict('NO_WORKER_FOR_TYPE', case
          when s.needed_mb is not null then format('%s (%s) needs %s MB of memory, more than any live worker that has its handler may use (the largest: %s MB)',
            app.task_name(stage, ordinal), type, s.needed_mb, s.most_mb)
          when s.workers = 0 then format('no live worker serves tenant "%s", so nobody can run %s (%s)', stage.tenant_id, app.task_name(stage, ordinal), type)
          else format('no live worker registers %s, which %s needs; live workers that serve this tenant: %s', type, app.task_name(stage, ordinal), s.workers)
        end || case when queued.run_at > now() then '; it is not due before ' || app.utc_text(queued.run_at) else '' end,
        json_build_object('stage', case when stage.job_id is not null then stage.name end, 'task_type', type, 'live_workers', s.workers,
          'registered_types', s.types, 'needed_mb', s.needed_mb, 'most_memory_mb', s.most_mb, 'run_at', queued.run_at,
          'queued', (select sum(r.hi - r.lo) from app.ready r where r.stage_id = stage.stage_id)),
        -- Since it was due and the last worker that could have taken it was there.
        greatest(case when queued.run_at <= now() then queued.run_at end, stage.opened_at, (
          select max(coalesce(w.ended_at, w.heartbeat_at + make_interval(secs => w.lease_s))) from app.workers w
           where type = any (w.types) and (w.tenant_id is null or w.tenant_id = stage.tenant_id))), null, case
          when s.needed_mb is not null then 'a worker with more memory takes it (--memory, FANFOLD_WORKER_MEMORY_MB)'
          else 'a worker that registers it and is started takes it'
        end, app.action('up', memory => s.needed_mb))
      from (
        select count(*) as workers,
          max((w.too_large -> type)::numeric) filter (where jsonb_typeof(w.too_large -> type) = 'number') as needed_mb,
          max(w.memory_mb) filter (where jsonb_typeof(w.too_large -> type) = 'number') as most_mb, (
            select array_agg(t.type)
              from (
                select distinct u as type from app.serving_workers(stage.tenant_id, null) o, unnest(o.types) u order by 1 limit 50) t) as types
          from app.serving_workers(stage.tenant_id, null) w) s);
end $$;
