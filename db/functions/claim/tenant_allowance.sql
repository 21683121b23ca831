-- How many more tasks of a tenant may be held. A tenant with a limit is locked while it is counted, with a lock that is tried and
-- never waited for. Its row, because whoever may log in sees which advisory locks are held, and could hold them instead.
create or replace function app.tenant_allowance(tenant text, taken app.taken_range[])
returns bigint
language plpgsql
as $$
declare
  v_limit bigint;
begin
  select l.concurrent_tasks into v_limit from app.limits l where l.tenant_id = tenant;
  if v_limit is null then
    return 9223372036854775807;
  end if;
  perform 1 from app.limits l where l.tenant_id = tenant for update skip locked;
  if not found then
    return 0;
  end if;
  return v_limit
    - (select coalesce(sum(app.held_count(c.held)), 0) from app.claims c where c.tenant_id = tenant)
    - (select coalesce(sum(t.hi - t.lo), 0) from unnest(taken) t where t.tenant_id = tenant);
end $$;
