-- Proves the ledgers of stages that closed since the last call, as their events tell: a page of events, and of these at most 200
-- stages. A difference is an alert; counters are put right from the rows. Stages of one task are what one insert made them.
create or replace function app.check_closed(run uuid default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_from bigint;
  v_to bigint;
  v_event record;
  v_wrong text;
  v_checked bigint := 0;
  v_tasks bigint := 0;
  v_alerts jsonb := '[]'::jsonb;
begin
  -- How far it has come is everybody's, and so is what it proves.
  if not app.take_duty('closed') then
    return json_build_object('checked', 0, 'more', false, 'alerts', '[]'::json);
  end if;
  perform app.wait_briefly();
  select j.checked_event_id into v_from from app.janitor j;
  v_to := v_from;
  -- Young events are left for the next run: an older one may still be uncommitted.
  for v_event in
    select e.event_id, e.kind, e.tenant_id, e.job_id, e.stage_id, (e.data ->> 'total')::bigint as total
      from app.events e
     where e.event_id > v_from and e.at < now() - interval '2 seconds'
     order by e.event_id
     limit 5000
  loop
    v_to := v_event.event_id;
    continue when v_event.kind not in ('stage.completed', 'stage.partial_success', 'stage.failed') or v_event.total <= 1;
    begin
      select string_agg(v, '; ') into v_wrong from app.verify_stage(v_event.stage_id) v;
      if v_wrong is not null then
        perform app.mend_closed(v_event.stage_id);
        perform app.janitor_note(run, v_event.tenant_id, 'mended', 'stage ' || v_event.stage_id, left(v_wrong, 1000), v_event.job_id, v_event.stage_id);
        v_alerts := v_alerts || app.alert(v_event.tenant_id, 'ledger', 'stage ' || v_event.stage_id, left(v_wrong, 1000), v_event.job_id, v_event.stage_id);
      end if;
    exception
      when others then
        if left(sqlstate, 2) in ('40', '53', '57', '58') then
          raise;
        end if;
        v_alerts := v_alerts || app.alert(v_event.tenant_id, 'check_failed', 'stage ' || v_event.stage_id, sqlerrm, v_event.job_id, v_event.stage_id);
    end;
    v_tasks := v_tasks + v_event.total;
    v_checked := v_checked + 1;
    -- A claim may be waiting for this very connection; and one job's row is enough to hold.
    exit when v_checked = 200 or v_tasks > 100000 or v_wrong is not null;
  end loop;
  update app.janitor set checked_event_id = v_to;
  return json_build_object('checked', v_checked, 'more', v_to > v_from, 'alerts', app.visible_alerts(v_alerts));
end $$;
grant execute on function app.check_closed(uuid) to fanfold_worker, fanfold_admin;
