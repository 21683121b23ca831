-- What a limited tenant uses, locked or only looked at. A figure that nobody has counted for long (no janitor runs) is counted here, by
-- one submit at a time, without the `own` tasks that this very submit has put in place.
create or replace function app.usage_of(limits app.limits, locked boolean, own bigint)
returns app.tenant_usage
language plpgsql
as $$
declare
  v_usage app.tenant_usage;
begin
  if locked then
    select * into v_usage from app.tenant_usage u where u.tenant_id = limits.tenant_id for update;
  else
    select * into v_usage from app.tenant_usage u where u.tenant_id = limits.tenant_id;
  end if;
  if v_usage.tenant_id is null then
    raise exception 'tenant "%" has limits and no row of its usage', limits.tenant_id using errcode = 'FF006', hint = 'set its limits again';
  end if;
  if limits.queued_tasks is not null and v_usage.counted_at < clock_timestamp() - interval '15 seconds'
    and pg_try_advisory_xact_lock(hashtextextended(limits.tenant_id, 5)) then
    v_usage.queued := greatest(0, app.count_queued(limits.tenant_id) - own);
    v_usage.counted_at := clock_timestamp();
  end if;
  return v_usage;
end $$;
