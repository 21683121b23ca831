-- The first step of a submit of a limited tenant: what is too large or over a limit is refused before anything is written, and without
-- a lock, so that a flood costs next to nothing. charge_limits is the last step.
create or replace function app.admit(limits app.limits, submits bigint, new_tasks bigint, bytes bigint)
returns void
language plpgsql
as $$
begin
  if bytes > limits.submit_bytes then
    raise exception 'this call has % bytes of parameters, and tenant "%" may send % at once (limit submit_bytes)', bytes, limits.tenant_id, limits.submit_bytes
      using errcode = 'FF004', hint = 'send less at once, or put the data into storage and pass a reference';
  end if;
  if limits.submits_per_s is not null or limits.queued_tasks is not null then
    perform app.check_limits(limits, submits, new_tasks, app.usage_of(limits, false, 0));
  end if;
end $$;
