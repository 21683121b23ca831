-- The task of the stage before with the same index (or the one the task names as its parent), with what came of it.
create or replace function app.predecessor(stage bigint, task bigint)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_stage app.stages;
  v_task app.tasks;
  v_previous bigint;
  v_name text;
  v_ordinal bigint;
begin
  select * into v_stage from app.stages s where s.stage_id = stage;
  if not found or v_stage.tenant_id is distinct from coalesce(app.worker_tenant(), v_stage.tenant_id) then
    raise exception 'there is no stage %', stage using errcode = 'FF001';
  end if;
  select * into v_task from app.tasks t where t.stage_id = stage and t.ordinal = task;
  select p.stage_id into v_previous
    from app.stages p
   where p.tenant_id = v_stage.tenant_id and p.job_id = v_stage.job_id and p.number = v_stage.of_number;
  v_name := coalesce(v_task.parent, v_task.index, task::text);
  select t.ordinal into v_ordinal from app.tasks t where t.stage_id = v_previous and t.index = v_name;
  if not found and v_name ~ '^\d{1,18}$' then
    select t.ordinal into v_ordinal from app.tasks t where t.stage_id = v_previous and t.ordinal = v_name::bigint and t.index is null;
  end if;
  return (
    select json_build_object('stage_id', r.stage_id, 'ordinal', r.ordinal, 'index', v_name, 'status', r.status, 'result', r.result, 'spill', r.spill,
      'next_stage_params', r.next_stage_params, 'error', r.error)
      from app.results r
     where r.stage_id = v_previous and r.ordinal = v_ordinal);
end $$;
grant execute on function app.predecessor(bigint, bigint) to fanfold_worker, fanfold_api, fanfold_admin;
