-- What a limited tenant uses, locked or only looked at. The figure of queued tasks is counted anew, without the `own` tasks that this
-- very submit has put in place: by a submit that brings it past half of the limit, so that what has been worked off is seen before
-- anybody is refused, unless it was counted a moment ago (counting may take a twentieth of the time); and by any when nobody has for
-- long. A refused submit leaves nothing behind, not even what it counted, and so counts only then, one at a time.
create or replace function app.usage_of(limits app.limits, locked boolean, own bigint)
returns app.tenant_usage
language plpgsql
as $$
declare
  v_usage app.tenant_usage;
  v_age interval;
  v_started timestamptz;
  v_counts boolean;
begin
  if locked then
    select * into v_usage from app.tenant_usage u where u.tenant_id = limits.tenant_id for update;
  else
    select * into v_usage from app.tenant_usage u where u.tenant_id = limits.tenant_id;
  end if;
  if v_usage.tenant_id is null then
    raise exception 'tenant "%" has limits and no row of its usage', limits.tenant_id using errcode = 'FF006', hint = 'set its limits again';
  end if;
  if limits.queued_tasks is null then
    return v_usage;
  end if;
  v_started := clock_timestamp();
  v_age := v_started - v_usage.counted_at;
  v_counts := locked and 2 * (v_usage.queued + own) > limits.queued_tasks
    and v_age > greatest(interval '250 ms', make_interval(secs => v_usage.count_ms / 50));
  if not v_counts and v_age > interval '15 seconds' then
    -- The tenant's own row, which nobody else waits for but who renames it.
    perform 1 from app.tenants t where t.tenant_id = limits.tenant_id for no key update skip locked;
    v_counts := found;
  end if;
  if v_counts then
    v_usage.queued := greatest(0, app.count_queued(limits.tenant_id) - own);
    v_usage.counted_at := clock_timestamp();
    v_usage.count_ms := extract(epoch from v_usage.counted_at - v_started) * 1000;
  end if;
  return v_usage;
end $$;
