-- Ends a job of a request that was never made: skipped, cancelled, or failed before there was one. The caller holds the request's row.
create or replace function platform.close_job(request_job platform.request_jobs, outcome app.stage_status, why_skipped text, problem jsonb)
returns void
language sql
as $$
  update platform.request_jobs j
     set phase = outcome, skip_reason = why_skipped, error = problem, opened_at = coalesce(j.opened_at, now()), closed_at = now()
   where j.tenant_id = request_job.tenant_id and j.request_id = request_job.request_id and j.number = request_job.number;
$$;
