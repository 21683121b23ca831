-- At commit: what the transaction changed in counted groups is written into their rows, all of them in one order, as the last thing
-- it locks. So the one row that thousands of ends a second have in common is held for a commit and not for a transaction, and no two
-- transactions wait for each other's groups. The first call does all of it; the others find nothing left.
create or replace function app.settle_groups()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_change record;
  v_group app.job_groups;
begin
  for v_change in
    with gone as (
      delete from app.group_changes c where c.xid = pg_current_xact_id() returning c.*
    )
    select g.tenant_id, g.group_id, sum(g.added) as added, sum(g.completed) as completed, sum(g.partial_success) as partial_success,
        sum(g.failed) as failed, sum(g.cancelled) as cancelled
      from gone g
     group by g.tenant_id, g.group_id
     order by g.tenant_id, g.group_id
  loop
    select * into v_group
      from app.job_groups g
     where g.tenant_id = v_change.tenant_id and g.group_id = v_change.group_id
       for no key update;
    if v_change.added > 0 then
      perform app.assert_room(v_group, v_change.added);
    end if;
    update app.job_groups g
       set total = g.total + v_change.added, completed = g.completed + v_change.completed,
           partial_success = g.partial_success + v_change.partial_success, failed = g.failed + v_change.failed,
           cancelled = g.cancelled + v_change.cancelled,
           sealed_at = case when g.sealed_at is null and g.total + v_change.added = g.expected then now() else g.sealed_at end
     where g.tenant_id = v_group.tenant_id and g.group_id = v_group.group_id
    returning * into v_group;
    perform app.end_group(v_group);
  end loop;
  return null;
end $$;
