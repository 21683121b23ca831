-- Takes back one claim whose worker is not live (it should have gone with its worker), or removes one whose stage is closed or
-- gone. One claim a call, so that a claim which cannot be taken back holds up no other; `after` is the `next` of the call before.
create or replace function app.sweep_claims(run uuid default null, after bigint default 0)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_own text := app.worker_tenant();
  v_claim app.claims;
  v_stage app.stages;
  v_back record;
  v_alerts jsonb := '[]'::jsonb;
begin
  select k.* into v_claim
    from app.claims k
    left join app.workers w on w.worker_id = k.worker_id
    left join app.stages s on s.stage_id = k.stage_id
   where k.claim_id > coalesce(sweep_claims.after, 0) and (v_own is null or k.tenant_id = v_own)
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
      v_back := app.take_back(v_claim, 9223372036854775807);
      perform app.settle(null, null, array(select v_claim.stage_id from generate_series(1, v_back.failed)),
        case when v_back.failed_plan then array[v_claim.stage_id] else '{}' end, null);
      perform app.wake(array[v_claim.task_type]);
    end if;
  exception
    when others then
      if left(sqlstate, 2) in ('40', '53', '57', '58') then
        raise;
      end if;
      v_alerts := app.alert(v_claim.tenant_id, 'take_back_failed', 'claim ' || v_claim.claim_id,
        'claim ' || v_claim.claim_id || ' of a dead worker cannot be taken back: ' || sqlerrm, v_stage.job_id, v_claim.stage_id);
  end;
  return json_build_object('swept', 1, 'next', v_claim.claim_id, 'alerts', app.told(v_alerts));
end $$;
grant execute on function app.sweep_claims(uuid, bigint) to fanfold_worker, fanfold_admin;
