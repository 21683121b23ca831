-- What an ended job is, and what can be done: completed, cancelled (perhaps with handlers that still run), past its deadline, or
-- failed in a stage, with what is usable all the same.
create or replace function app.why_ended_job(job app.jobs)
returns json
language plpgsql stable
as $$
begin
  if job.status = 'completed' then
    return app.verdict('COMPLETED', 'job ' || left(job.job_id, 12) || ' is completed; nothing blocks it',
      json_build_object('started_at', job.started_at, 'finished_at', job.finished_at, 'stages', app.usable_stages(job)), job.finished_at);
  elsif job.status = 'cancelled' then
    return coalesce(app.why_cancelling(job), app.why_cancelled(job));
  elsif job.error ->> 'code' = 'deadline' then
    return app.verdict('DEADLINE_PASSED', 'job ' || left(job.job_id, 12) || ' was failed because ' || (job.error ->> 'message'),
      json_build_object('deadline_s', job.deadline_s, 'usable', app.usable_stages(job), 'deliverables', app.job_deliverables(job)),
      job.finished_at, null, 'it goes on, with a new deadline, when it is resumed', app.action('resume', job_id => job.job_id));
  end if;
  return app.why_failed(job);
end $$;
