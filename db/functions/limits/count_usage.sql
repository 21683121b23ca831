-- Counts anew how many tasks of a tenant with such a limit are queued, unless that was done a moment ago: counting may take a
-- twentieth of the time at most. Without a tenant, for the janitor: the one whose figure is the oldest. Called apart from a submit,
-- because one that is refused leaves nothing behind, not even what it counted. Returns how many tenants it counted.
create or replace function app.count_usage(tenant text default null)
returns integer
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
as $$
declare
  v_only text := case when app.is_server() then tenant else app.acting_tenant(tenant) end;
  v_tenant text;
  v_started timestamptz;
  v_queued bigint;
begin
  select u.tenant_id into v_tenant
    from app.limits l
    join app.tenant_usage u on u.tenant_id = l.tenant_id
   where l.queued_tasks is not null and (v_only is null or l.tenant_id = v_only)
     and u.counted_at < clock_timestamp()
       - greatest(case when tenant is null then interval '2 seconds' else interval '250 ms' end, make_interval(secs => u.count_ms / 50))
   order by u.counted_at
   limit 1
     -- Who holds the row is submitting, and waiting for it would be waiting for them.
     for update of u skip locked;
  if not found then
    return 0;
  end if;
  v_started := clock_timestamp();
  v_queued := app.count_queued(v_tenant);
  update app.tenant_usage u
     set queued = v_queued, counted_at = clock_timestamp(), count_ms = extract(epoch from clock_timestamp() - v_started) * 1000
   where u.tenant_id = v_tenant;
  return 1;
end $$;
grant execute on function app.count_usage(text) to fanfold_api, fanfold_worker, fanfold_admin;
