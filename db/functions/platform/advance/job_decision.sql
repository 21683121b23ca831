-- What becomes of a job that waits for those numbered in `after`: null while one of them has not ended, else what opening_decision says of
-- stages. The arrays hold all jobs of the request, by number.
create or replace function platform.job_decision(
  after integer[], statuses app.stage_status[], importances app.importance[], skip_reasons text[])
returns text
language sql immutable
as $$
  select case
    when bool_and(statuses[n] = 'completed') is not false then 'open'
    when not bool_and(platform.has_ended(statuses[n])) then null
    else app.opening_decision(array_agg(statuses[n]), array_agg(importances[n]), array_agg(skip_reasons[n]))
  end
  from unnest(after) n
$$;
