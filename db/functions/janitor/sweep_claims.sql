-- Takes back one claim whose worker is not live (it should have gone with its worker), or removes one whose stage is closed or
-- gone. One claim a call, so that a claim which cannot be taken back holds up no other; `after` is the `next` of the call before, `held`
-- and `skip` are as with expire_jobs.
create or replace function app.sweep_claims(run uuid default null, after bigint default 0, skip json default '[]')
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_own text := app.worker_tenant();
  v_skip text[] := array(select json_array_elements_text(skip));
  v_claim app.claims;
  v_stage app.stages;
  v_back record;
  v_alerts jsonb := '[]'::jsonb;
  v_held text;
begin
  perform app.wait_briefly();
  select k.* into v_claim
    from app.claims k
    left join app.workers w on w.worker_id = k.worker_id
    left join app.stages s on s.stage_id = k.stage_id
   where k.claim_id > coalesce(sweep_claims.after, 0) and (v_own is null or k.tenant_id = v_own) and k.tenant_id <> all (v_skip)
     and (w.status is distinct from 'live' or s.stage_id is null or s.closed_at is not null)
   order by k.claim_id
   limit 1
   for update of k skip locked;
  if not found then
    return json_build_object('swept', 0, 'next', null, 'alerts', '[]'::json);
  end if;
  select * into v_stage from app.stages s where s.stage_id = v_claim.stage_id;
  begin
    perform app.janitor_note(run, v_claim.tenant_id, 'took_back', 'claim ' || v_claim.claim_id,
      case when v_stage.stage_id is null or v_stage.closed_at is not null then 'its stage is closed' else 'its worker is gone' end,
      v_stage.job_id, v_claim.stage_id, jsonb_build_object('tasks', app.held_count(v_claim.held)));
    if v_stage.stage_id is null or v_stage.closed_at is not null then
      delete from app.claims where claim_id = v_claim.claim_id;
    else
      -- One that said goodbye did not crash.
      v_back := app.take_back(v_claim, case
        when exists (select from app.workers w where w.worker_id = v_claim.worker_id and w.status = 'stopped') then 0
        else 9223372036854775807 end);
      perform app.settle(null, null, array(select v_claim.stage_id from generate_series(1, v_back.failed)),
        case when v_back.failed_plan then array[v_claim.stage_id] else '{}' end, null);
      perform app.wake(array[v_claim.task_type]);
    end if;
    set constraints app.groups_are_settled_at_commit immediate;
  exception
    when lock_not_available then v_held := v_claim.tenant_id;
    when others then
      if left(sqlstate, 2) in ('40', '53', '57', '58') then
        raise;
      end if;
      v_alerts := app.alert(v_claim.tenant_id, 'take_back_failed', 'claim ' || v_claim.claim_id,
        'claim ' || v_claim.claim_id || ' of a dead worker cannot be taken back: ' || sqlerrm, v_stage.job_id, v_claim.stage_id);
  end;
  return json_build_object('swept', (v_held is null)::integer, 'next', v_claim.claim_id, 'alerts', app.visible_alerts(v_alerts), 'held', v_held);
end $$;
grant execute on function app.sweep_claims(uuid, bigint, json) to fanfold_worker, fanfold_admin;
