-- One short step of what retention does for all tenants: the next piece of rows that no job has any more, and the next page of whichever kind of
-- history has waited longest to be looked at. `removed` counts both; `more`: there is something to do at once.
create or replace function app.retire(run uuid default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set jit = off
as $$
declare
  c_rows constant integer := 5000;
  c_rest constant interval := interval '15 minutes';
  v_rows bigint;
  v_round app.retention_rounds;
  v_page jsonb;
begin
  if not app.take_duty('retention') then
    return json_build_object('removed', 0, 'rows', 0, 'more', false);
  end if;
  perform app.wait_briefly();
  v_rows := app.remove_rows(c_rows);
  insert into app.retention_rounds (tenant_id, kind)
  select t.tenant_id, k.kind
    from app.tenants t
    cross join unnest(array['requests', 'jobs', 'surplus_jobs', 'tasks', 'used_keys', 'deliveries', 'ticks', 'events', 'groups']) k(kind)
   where not exists (select from app.retention_rounds r where r.tenant_id = t.tenant_id and r.kind = 'jobs')
  union all
  select '', 'workers' where not exists (select from app.retention_rounds r where r.tenant_id = '')
  on conflict do nothing;
  select * into v_round from app.retention_rounds r where r.due_at <= now() order by r.due_at, r.tenant_id, r.kind limit 1 for update;
  if not found then
    return json_build_object('removed', 0, 'rows', coalesce(v_rows, 0), 'more', v_rows is not null);
  end if;
  begin
    v_page := case v_round.kind
      when 'requests' then app.retire_requests(v_round.tenant_id, v_round.after)
      when 'jobs' then app.retire_jobs(v_round.tenant_id, v_round.after)
      when 'surplus_jobs' then app.retire_surplus_jobs(v_round.tenant_id, v_round.after)
      when 'tasks' then app.retire_tasks(v_round.tenant_id, v_round.after)
      when 'used_keys' then app.retire_keys(v_round.tenant_id, v_round.after)
      when 'deliveries' then app.retire_deliveries(v_round.tenant_id, v_round.after)
      when 'ticks' then app.retire_ticks(v_round.tenant_id, v_round.after)
      when 'events' then app.retire_events(v_round.tenant_id, v_round.after)
      when 'groups' then app.retire_groups(v_round.tenant_id, v_round.after)
      when 'workers' then app.retire_workers()
    end;
    if v_round.kind in ('jobs', 'surplus_jobs', 'requests') and (v_page ->> 'removed')::integer > 0 then
      perform app.janitor_note(run, v_round.tenant_id, 'retired', v_round.kind, v_page ->> 'removed' || ' ' || replace(v_round.kind, '_', ' ')
        || ' went, as the rules of retention say');
    end if;
  exception
    -- Somebody of this tenant holds a lock: the others come first, and nobody waits.
    when lock_not_available then
      v_page := jsonb_build_object('removed', 0, 'next', null);
  end;
  update app.retention_rounds r
     set after = v_page -> 'next', removed = r.removed + (v_page ->> 'removed')::bigint,
         last_removed_at = case when (v_page ->> 'removed')::bigint > 0 then now() else r.last_removed_at end,
         -- Those with a page left stand in line behind all others that are due.
         due_at = case when v_page -> 'next' = 'null' then now() + c_rest else now() end
   where r.tenant_id = v_round.tenant_id and r.kind = v_round.kind;
  return json_build_object('removed', (v_page ->> 'removed')::bigint, 'rows', coalesce(v_rows, 0), 'kind', v_round.kind,
    'tenant_id', v_round.tenant_id, 'more', true);
end $$;
grant execute on function app.retire(uuid) to fanfold_worker, fanfold_admin;
