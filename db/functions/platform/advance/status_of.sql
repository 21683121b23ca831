-- How a job of a request stands: as its job does, once it has one. In words of stages, because the decision table is theirs.
create or replace function platform.status_of(phase app.stage_status, job app.job_status)
returns app.stage_status
language sql immutable
as $$
  select case
    when phase <> 'processing' then phase
    when job = 'completed' then app.stage_status 'completed'
    when job = 'partial_success' then app.stage_status 'partial_success'
    when job = 'failed' then app.stage_status 'failed'
    when job = 'cancelled' then app.stage_status 'cancelled'
    else app.stage_status 'processing'
  end
$$;
