-- The jobs of a request as its status shows them, each with the progress of its tasks.
create or replace function platform.jobs_shown(request platform.requests)
returns jsonb
language sql stable
as $$
  select coalesce(jsonb_agg(jsonb_build_object(
      'number', j.number, 'name', j.name, 'job_type', j.job_type, 'sequence', j.sequence, 'after', (
        select coalesce(jsonb_agg(b.name order by b.number), '[]') from platform.request_jobs b
         where b.tenant_id = j.tenant_id and b.request_id = j.request_id and b.number = any (j.after)),
      'importance', j.importance, 'job_id', j.job_id, 'status', case when j.phase = 'processing' then q.status::text else j.phase::text end,
      'skip_reason', j.skip_reason, 'error', coalesce(j.error, q.error), 'gate', j.gate ->> 'message', 'decision', j.decision,
      'superseded', to_jsonb(j.superseded), 'opened_at', j.opened_at, 'started_at', q.started_at, 'finished_at', coalesce(q.finished_at, j.closed_at),
      'total', p.total, 'completed', p.completed, 'failed', p.failed, 'skipped', p.skipped, 'stage', p.stage, 'stages', p.stages) order by j.number), '[]')
    from platform.request_jobs j
    left join app.jobs q on q.tenant_id = j.tenant_id and q.job_id = j.job_id
    left join lateral (
      select sum(g.total) as total, sum(g.completed) as completed, sum(g.failed) as failed, sum(g.skipped) as skipped, count(*) as stages,
          (array_agg(s.name order by s.number) filter (where s.closed_at is null and s.status <> 'waiting'))[1] as stage
        from app.stages s
        left join app.stage_progress g on g.stage_id = s.stage_id
       where s.tenant_id = j.tenant_id and s.job_id = j.job_id) p on j.job_id is not null
   where j.tenant_id = request.tenant_id and j.request_id = request.request_id
$$;
