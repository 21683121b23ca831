-- By which index the jobs that a filter may let through are found: the narrowest that holds them all.
create or replace function app.job_source(f app.job_filter)
returns text
language plpgsql immutable
as $$
begin
  return case
    when f.statuses = '{}' then 'none'
    when f.among is not null then 'among'
    when f.id is not null then 'id'
    when f.correlation_id is not null then 'correlation'
    when f.group_id is not null then 'group'
    when f.paused then 'paused'
    when f.waiting then 'waiting'
    when f.statuses is null or 'completed' = any (f.statuses) then case when f.types is null then 'age' else 'type' end
    when not f.statuses && '{queued,processing}'::app.job_status[] then case when f.types is null then 'bad' else 'bad_type' end
    when f.statuses && '{partial_success,failed,cancelled}'::app.job_status[] then 'open_bad'
    else 'open'
  end;
end $$;
