-- The one retry authority: seconds until the next attempt, or null when the task has failed for good.
-- transient and crash: within max_attempts; throttled: spends no attempt, but at most 100 times; permanent and contract: never.
create or replace function app.retry_delay_s(
  category text, attempt integer, throttles integer, max_attempts integer, retry_after_s double precision, chance double precision)
returns double precision
language sql immutable
as $$
  select case
    when category = 'throttled' and throttles < 100
      then least(greatest(coalesce(retry_after_s, app.backoff_s(throttles + 1, chance)), 0), 3600)
    when category in ('transient', 'crash') and attempt < max_attempts
      then least(greatest(coalesce(retry_after_s, 0), app.backoff_s(attempt, chance)), 3600)
  end
$$;
