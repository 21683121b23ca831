-- A paused job: who, when, why, and what waits.
create or replace function app.why_job_paused(job app.jobs)
returns json
language plpgsql stable
as $$
begin
  return (
    select app.verdict('JOB_PAUSED', 'job ' || left(job.job_id, 12) || ' is paused by ' || job.paused_by || coalesce(': ' || job.pause_reason, ''),
        json_build_object('paused_by', job.paused_by, 'pause_reason', job.pause_reason,
          'queued', (select coalesce(sum(r.hi - r.lo), 0) from app.ready r where r.stage_id = any (s.ids)),
          'held', (select coalesce(sum(app.held_count(k.held)), 0) from app.claims k where k.stage_id = any (s.ids))),
        job.paused_at, null, 'what is held may finish; nothing more is claimed, and the deadline waits, until the job is continued',
        app.action('continue', job_id => job.job_id))
      from (select array_agg(g.stage_id) as ids from app.stages g where g.tenant_id = job.tenant_id and g.job_id = job.job_id) s);
end $$;
