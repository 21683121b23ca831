-- Cancels one lone task, waiting or running. What ended stays ended, and says so.
create or replace function app.cancel_task(
  task_id text, reason text default null, tenant text default null, dry_run boolean default false, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_found record := app.find_task(v_tenant, task_id);
  v_stage app.stages := v_found.stage;
  v_ordinal bigint := v_found.ordinal;
  v_ready app.ready;
  v_claim app.claims;
  v_status app.task_status;
begin
  -- However it was named.
  task_id := (v_found.stage).stage_id || '-' || v_found.ordinal;
  if v_stage.job_id is not null then
    raise exception 'task "%" belongs to a job', task_id using errcode = 'FF006', hint = 'cancel the job', detail = app.action('cancel', job_id => v_stage.job_id);
  end if;
  if dry_run then
    select t.status into v_status from app.task_states t where t.stage_id = v_stage.stage_id and t.ordinal = v_ordinal;
    if v_status not in ('queued', 'processing', 'cancelled') then
      raise exception 'task "%" is %, which is final', task_id, v_status using errcode = 'FF006';
    end if;
    return json_build_object('task_id', task_id, 'status', v_status, 'dry_run', true, 'changed', false);
  end if;
  v_ready := app.take_out_of_ready(v_stage.stage_id, v_ordinal);
  if v_ready.ready_id is null then
    select * into v_claim from app.claims k where k.stage_id = v_stage.stage_id and k.held @> v_ordinal for update;
    if found then
      perform app.let_go(array[v_claim.claim_id], array[int8multirange(int8range(v_ordinal, v_ordinal + 1))]);
    end if;
  end if;
  if v_ready.ready_id is not null or v_claim.claim_id is not null then
    insert into app.results (stage_id, ordinal, tenant_id, status, attempt, error)
    values (v_stage.stage_id, v_ordinal, v_tenant, 'cancelled', coalesce(v_ready.attempt, v_claim.attempt),
      jsonb_build_object('code', 'cancelled', 'message', coalesce(left(reason, 1000), 'cancelled on request')));
    perform app.note(v_tenant, 'task.cancelled', null, v_stage.stage_id, left(reason, 1000), jsonb_build_object('task_id', task_id), actor);
    return json_build_object('task_id', task_id, 'status', 'cancelled', 'dry_run', false, 'changed', true);
  end if;
  select r.status into v_status from app.results r where r.stage_id = v_stage.stage_id and r.ordinal = v_ordinal;
  if v_status = 'cancelled' then
    return json_build_object('task_id', task_id, 'status', v_status, 'dry_run', false, 'changed', false);
  end if;
  raise exception 'task "%" is %, which is final', task_id, coalesce(v_status::text, 'in transit') using errcode = 'FF006';
end $$;
grant execute on function app.cancel_task(text, text, text, boolean, text) to fanfold_api, fanfold_admin;
