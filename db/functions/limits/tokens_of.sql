-- What is in a tenant's bucket by now.
create or replace function app.tokens_of(limits app.limits, usage app.tenant_usage)
returns double precision
language plpgsql
as $$
begin
  return least(app.burst_of(limits),
    usage.tokens + limits.submits_per_s * greatest(0, extract(epoch from clock_timestamp() - usage.filled_at)));
end $$;
