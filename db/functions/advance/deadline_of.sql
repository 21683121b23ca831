-- When a job is failed if it has not ended. One that counts from the start of work gets its time written down by a sweep: the first
-- claim of a job that is over in a moment must not have to move it in an index.
create or replace function app.deadline_of(job app.jobs)
returns timestamptz
language sql stable
as $$
  select coalesce(job.deadline_at, case when not job.clock_stands then job.started_at + make_interval(secs => job.deadline_left_s) end)
$$;
