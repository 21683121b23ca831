-- Per objective (a stage, named by its description): what succeeded, what failed, and how to recover.
create or replace function app.stage_outcomes(job app.jobs)
returns json
language plpgsql stable
set enable_seqscan = off
set jit = off
as $$
begin
  return (
    select json_agg(json_build_object(
        'stage', s.name, 'number', s.number, 'objective', coalesce(s.description, s.name), 'importance', s.importance,
        'status', case
          when s.status = 'completed' then 'succeeded'
          when s.status = 'partial_success' then 'partly_succeeded'
          when s.closed_at is null then 'pending'
          else s.status::text
        end,
        'total', coalesce(s.total, 0), 'completed', coalesce(p.completed, 0), 'failed', coalesce(p.failed, 0), 'skipped', coalesce(p.skipped, 0),
        'error', coalesce(s.error, (
          select r.error || jsonb_build_object('task_id', r.stage_id || '-' || r.ordinal)
            from app.results r where r.stage_id = s.stage_id and r.status = 'failed' order by r.ordinal limit 1)),
        'action', case
          when s.status = 'waiting_approval' then app.action('approve', job_id => job.job_id, stage => s.name)
          when job.finished_at is null then null
          when job.status <> 'completed' and (s.status in ('failed', 'cancelled', 'partial_success') or s.skip_reason = 'upstream')
            then app.action('resume', job_id => job.job_id)
          when s.status in ('failed', 'partial_success') then app.action('retry_stage', job_id => job.job_id, stage => s.name)
        end) order by s.number)
      from app.stages s
      left join app.stage_progress p on p.stage_id = s.stage_id
     where s.tenant_id = job.tenant_id and s.job_id = job.job_id);
end $$;
