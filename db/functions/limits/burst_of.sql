-- How many submits may come at once after a pause: as set, or what a second brings.
create or replace function app.burst_of(limits app.limits)
returns double precision
language plpgsql immutable
as $$
begin
  return coalesce(limits.submit_burst, greatest(1, ceil(limits.submits_per_s)), 1);
end $$;
