-- Rule 5, second half: how a job ended, from how its stages ended and how important each was.
create or replace function app.job_outcome(statuses app.stage_status[], importances app.importance[])
returns app.job_status
language plpgsql immutable
as $$
begin
  return (
    select case
      when bool_or(s = 'failed' and i = 'critical') then 'failed'
      when bool_or(s = 'cancelled') then 'cancelled'
      when bool_or(s in ('failed', 'partial_success') and i <> 'optional') then 'partial_success'
      else 'completed'
    end::app.job_status
    from unnest(statuses, importances) as ended(s, i));
end $$;
