-- One page of `ready`: what is left of closed or vanished stages goes, and what is put aside although its job is not paused comes
-- back. Rows that others hold are theirs. `after` is the `next` of the page before.
create or replace function app.sweep_ready(run uuid default null, after bigint default 0)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_own text := app.worker_tenant();
  v_ids bigint[] := array(select r.ready_id from app.ready r where r.ready_id > after order by r.ready_id limit 2000);
  v_left record;
  v_swept bigint := 0;
begin
  for v_left in
    select r.ready_id, r.stage_id, r.tenant_id, r.hi - r.lo as tasks, s.job_id, s.stage_id is null or s.closed_at is not null as ended
      from app.ready r
      left join app.stages s on s.stage_id = r.stage_id
     where r.ready_id = any (v_ids) and (v_own is null or r.tenant_id = v_own)
       and (s.stage_id is null or s.closed_at is not null or (r.task_type like '#paused:%' and not s.paused))
     order by r.ready_id
     for update of r skip locked
  loop
    if v_left.ended then
      delete from app.ready where ready_id = v_left.ready_id;
    else
      update app.ready set task_type = substr(task_type, 9) where ready_id = v_left.ready_id;
    end if;
    v_swept := v_swept + 1;
    perform app.janitor_note(run, v_left.tenant_id, case when v_left.ended then 'removed' else 'unparked' end, 'ready ' || v_left.ready_id,
      case when v_left.ended then 'its stage is closed' else 'its job is not paused' end, v_left.job_id, v_left.stage_id,
      jsonb_build_object('tasks', v_left.tasks));
  end loop;
  return json_build_object('swept', v_swept, 'next', case when cardinality(v_ids) = 2000 then v_ids[2000] end, 'alerts', '[]'::json);
end $$;
grant execute on function app.sweep_ready(uuid, bigint) to fanfold_worker, fanfold_admin;
