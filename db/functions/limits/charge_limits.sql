-- The last step of a submit of a limited tenant: looks again, under the lock that makes two submits of one tenant come one after the
-- other, and writes down what this one takes. Last, because the lock is held until the commit.
create or replace function app.charge_limits(limits app.limits, submits bigint, new_tasks bigint)
returns void
language plpgsql
as $$
declare
  v_usage app.tenant_usage;
begin
  if limits.submits_per_s is null and limits.queued_tasks is null then
    return;
  end if;
  v_usage := app.usage_of(limits, true, new_tasks);
  perform app.check_limits(limits, submits, new_tasks, v_usage);
  update app.tenant_usage u
     set tokens = case when limits.submits_per_s is null then u.tokens else app.tokens_of(limits, v_usage) - submits end,
         filled_at = greatest(u.filled_at, clock_timestamp()), queued = v_usage.queued + new_tasks, counted_at = v_usage.counted_at,
         count_ms = v_usage.count_ms
   where u.tenant_id = limits.tenant_id;
end $$;
