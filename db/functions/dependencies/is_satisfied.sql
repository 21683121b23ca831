-- Has a job in this status ended as one that depends on it needs it to?
create or replace function app.is_satisfied(needs text, status app.job_status)
returns boolean
language sql immutable
as $$
  select case
    when status in ('queued', 'processing') then false
    when needs = 'end' or status = 'completed' then true
    else needs = 'success' and status = 'partial_success'
  end
$$;
