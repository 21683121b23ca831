-- The one retry authority: seconds until the next attempt, or null when the task has failed for good. `attempt` is the one that
-- failed, `turn` how often it failed in this way, `spent_s` how long it has been tried again (see app.retry_spent).
-- The last wait ends with the budget: whatever is away for less than within_s is met again.
create or replace function app.retry_delay_s(
  kind text, budget app.retry_budget, attempt integer, turn integer, spent_s double precision, retry_after_s double precision,
  chance double precision)
returns double precision
language sql immutable
as $$
  select case
    when d.times is not null and turn > d.times then null
    when kind = 'throttled' then least(greatest(coalesce(retry_after_s, w.wait_s), 0), 3600)
    when kind = 'engine' then w.wait_s
    when kind = 'spill' then case when spent_s < budget.within_s then least(w.wait_s, budget.within_s - spent_s) end
    -- An attempt's number is a small one; nobody waits that long for another.
    when attempt >= coalesce(budget.attempts, 10000) then null
    when kind = 'crash' or budget.within_s is null or attempt < d.attempts
      then least(greatest(coalesce(retry_after_s, 0), w.wait_s), 3600)
    when spent_s < budget.within_s
      then least(greatest(coalesce(retry_after_s, 0), least(w.wait_s, budget.within_s - spent_s)), 3600)
  end
    from app.retry_defaults() d
    cross join lateral (select app.backoff_s(turn, chance, budget.base_s, budget.cap_s) as wait_s) w
   where d.kind = retry_delay_s.kind
$$;
