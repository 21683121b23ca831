-- A cancelled job of which a live worker still names tasks as running: null when none does. A worker hears of it with its next
-- heartbeat; what it would still finish is refused.
create or replace function app.why_cancelling(job app.jobs)
returns json
language plpgsql stable
as $$
begin
  return (
    select app.verdict('CANCELLING', format('job %s is cancelled; tasks of it that were still running at the last heartbeat of their workers: %s',
          left(job.job_id, 12), count(*)),
        json_build_object('cancelled', job.error ->> 'message', 'running', (json_agg(json_build_object(
          'task_id', t.stage_id || '-' || t.ordinal, 'stage', t.name, 'elapsed_s', t.elapsed_s, 'worker_id', t.worker_id,
          'heartbeat_at', t.heartbeat_at) order by t.stage_id, t.ordinal))),
        job.finished_at, max(t.heartbeat_at + make_interval(secs => t.lease_s)),
        'each worker hears of it with its next heartbeat; by the end of its lease at the latest, unless renewed, nothing of it counts as running', null)
      from (
        select s.stage_id, s.name, w.worker_id, w.heartbeat_at, w.lease_s, r -> 'elapsed_s' as elapsed_s, r ->> 'ordinal' as ordinal
          from app.workers w
          cross join lateral jsonb_array_elements(case jsonb_typeof(w.running) when 'array' then w.running else '[]' end) r
          join app.stages s on to_jsonb(s.stage_id) = r -> 'stage_id' and s.tenant_id = job.tenant_id and s.job_id = job.job_id
         where w.status = 'live' and app.is_alive(w) and (w.tenant_id is null or w.tenant_id = job.tenant_id)
         limit 50) t
    having count(*) > 0);
end $$;
