-- A job as a list shows it; `with_progress`: how far its stages are too, read from their ledgers.
create or replace function app.listed_job(job app.jobs, with_progress boolean)
returns json
language plpgsql stable
as $$
begin
  return json_build_object(
    'job_id', job.job_id, 'job_type', job.job_type, 'run', job.run, 'status', job.status, 'priority', job.priority,
    'labels', job.labels, 'created_at', job.created_at, 'started_at', job.started_at, 'finished_at', job.finished_at,
    'error', job.error, 'group_id', job.group_id, 'correlation_id', job.correlation_id, 'paused_at', job.paused_at,
    'waits_for', job.waits_for, 'progress', case when with_progress then (
      select json_build_object(
          'stages', count(*), 'stages_ended', count(s.closed_at),
          'stage', min(s.number) filter (where s.closed_at is null and s.opened_at is not null),
          'stage_name', (array_agg(s.name order by s.number) filter (where s.closed_at is null and s.opened_at is not null))[1],
          'approval', coalesce(bool_or(s.status = 'waiting_approval'), false),
          'retrying', job.finished_at is null and coalesce(bool_or(s.closed_at is null and (
            exists (select from app.ready r where r.tenant_id = s.tenant_id and r.stage_id = s.stage_id and (r.attempt > 1 or r.crashes > 0 or r.throttles > 0))
            or exists (select from app.claims k where k.tenant_id = s.tenant_id and k.stage_id = s.stage_id and (k.attempt > 1 or k.crashes > 0 or k.throttles > 0)))), false),
          'total', coalesce(sum(coalesce(p.total, s.total)), 0), 'completed', coalesce(sum(p.completed), 0),
          'failed', coalesce(sum(p.failed), 0), 'skipped', coalesce(sum(p.skipped), 0),
          'open_stages', coalesce(json_agg(json_build_object('stage_id', s.stage_id, 'total', p.total, 'completed', p.completed,
            'failed', p.failed, 'skipped', p.skipped) order by s.number) filter (where s.closed_at is null and p.stage_id is not null), '[]'))
        from app.stages s
        left join app.stage_progress p on p.stage_id = s.stage_id
       where s.tenant_id = job.tenant_id and s.job_id = job.job_id) end);
end $$;
