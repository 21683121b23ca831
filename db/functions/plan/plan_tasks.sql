-- One page of a plan made by code. It replaces what a planner that died, or the same page sent before, may have left. The plan
-- of a stage that ran before waits as a draft until plan_done merges it.
-- tasks: [{i: index, p: parameters, m: metadata, parent, bbox}]
create or replace function app.plan_tasks(worker uuid, claim bigint, from_ordinal bigint, tasks json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_stage app.stages;
  v_inserted bigint;
begin
  if app.may_hold_wild_numbers(tasks::text) then
    perform app.refuse_wild_numbers(tasks::jsonb);
  end if;
  select * into v_stage from app.stages s where s.stage_id = app.planning_stage(worker, claim);
  if v_stage.total is null then
    delete from app.tasks t where t.stage_id = v_stage.stage_id and t.ordinal >= from_ordinal;
    insert into app.tasks (stage_id, ordinal, tenant_id, index, parameters, metadata, parent, bbox)
    select v_stage.stage_id, from_ordinal + t.position - 1, v_stage.tenant_id,
        case when length(t.i) not between 1 and 200 or cardinality(t.bbox) not in (4, 6) then app.refused_index(t.i, t.bbox) else t.i end, t.p, t.m, t.parent, t.bbox
      from rows from (json_to_recordset(tasks) as (i text, p jsonb, m jsonb, parent text, bbox double precision[])) with ordinality
        as t(i, p, m, parent, bbox, position);
  else
    delete from app.task_drafts t where t.stage_id = v_stage.stage_id and t.ordinal >= from_ordinal;
    insert into app.task_drafts (stage_id, ordinal, tenant_id, index, parameters, metadata, parent, bbox)
    select v_stage.stage_id, from_ordinal + t.position - 1, v_stage.tenant_id,
        case when length(t.i) not between 1 and 200 or cardinality(t.bbox) not in (4, 6) then app.refused_index(t.i, t.bbox) else t.i end, t.p, t.m, t.parent, t.bbox
      from rows from (json_to_recordset(tasks) as (i text, p jsonb, m jsonb, parent text, bbox double precision[])) with ordinality
        as t(i, p, m, parent, bbox, position);
  end if;
  get diagnostics v_inserted = row_count;
  perform app.assert_fan_out(v_stage, from_ordinal + v_inserted);
  return json_build_object('inserted', v_inserted);
exception
  when unique_violation then
    raise exception 'two tasks of the stage have the same index'
      using errcode = 'FF002', detail = sqlerrm, hint = 'an index names one task of its stage';
end $$;
grant execute on function app.plan_tasks(uuid, bigint, bigint, json) to fanfold_worker, fanfold_admin;
