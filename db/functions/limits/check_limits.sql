-- May this tenant submit so many jobs or lone tasks, which bring so many new tasks? The bucket is overdrawn by a call that brings more
-- than it ever holds: a bulk call is possible, and paid for afterwards.
create or replace function app.check_limits(limits app.limits, submits bigint, new_tasks bigint, usage app.tenant_usage)
returns void
language plpgsql
as $$
declare
  v_tokens double precision;
  v_needed double precision := least(submits, app.burst_of(limits));
begin
  if limits.submits_per_s is not null then
    v_tokens := app.tokens_of(limits, usage);
    if v_tokens < v_needed then
      perform app.refuse_over_limit(limits, 'submits_per_s',
        format('it may submit %s per second and %s at once, and %s is left', limits.submits_per_s, app.burst_of(limits), greatest(0, floor(v_tokens))),
        greatest(1, (v_needed - v_tokens) / limits.submits_per_s));
    end if;
  end if;
  if limits.queued_tasks is not null and new_tasks > 0 then
    if new_tasks > limits.queued_tasks then
      raise exception 'this call queues % tasks, and tenant "%" may have % queued (limit queued_tasks)', new_tasks, limits.tenant_id, limits.queued_tasks
        using errcode = 'FF009', hint = 'split it, or ask the operator to raise the limit';
    elsif usage.queued + new_tasks > limits.queued_tasks then
      perform app.refuse_over_limit(limits, 'queued_tasks',
        format('%s tasks are queued, this call brings %s, and the limit is %s', usage.queued, new_tasks, limits.queued_tasks), 1);
    end if;
  end if;
end $$;
