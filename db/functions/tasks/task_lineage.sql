-- Whose results a task was given, and which tasks take its own. `how`: task (one task's result, by index or parent), batch (a slice
-- of the stage), all (everything the stage produced), plan (a planner made these tasks of the stage's results), unplanned (the stage
-- has no tasks yet). What a task reads is decided as in src/core/task/previous.ts.
create or replace function app.task_lineage(task_id text, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  -- Children are found by reading the names of their parents: of a wider stage, among so many of its first tasks.
  c_children constant integer := 20000;
  v_tenant text := app.acting_tenant(tenant);
  v_found record := app.find_task(v_tenant, task_id);
  v_stage app.stages := v_found.stage;
  v_ordinal bigint := v_found.ordinal;
  v_task app.tasks;
  v_other app.stages;
  v_match bigint;
  v_name text;
  v_children bigint[];
  v_up json[] := '{}'::json[];
  v_down json[] := '{}'::json[];
begin
  -- However it was named.
  task_id := (v_found.stage).stage_id || '-' || v_found.ordinal;
  select * into v_task from app.tasks t where t.stage_id = v_stage.stage_id and t.ordinal = v_ordinal;
  v_name := coalesce(v_task.index, v_ordinal::text);
  for v_other in
    select s.* from app.stages s
     where s.tenant_id = v_tenant and s.job_id = v_stage.job_id and s.number = any (v_stage.after)
     order by s.number
  loop
    v_match := null;
    if v_other.number is not distinct from v_stage.of_number and (v_stage.parallelism = 'match_previous' or v_task.parent is not null) then
      v_match := app.task_named(v_other.stage_id, coalesce(v_task.parent, v_name));
    end if;
    v_up := v_up || case
      when v_match is not null then app.lineage_link(v_other, 'task', v_match, v_match + 1)
      when v_other.number is not distinct from v_stage.of_number and v_stage.parallelism = 'fan_in' and v_stage.batch is not null
        then app.lineage_link(v_other, 'batch', v_ordinal * v_stage.batch, least((v_ordinal + 1) * v_stage.batch, coalesce(v_other.total, 0)))
      when v_stage.parallelism = 'fan_out' then app.lineage_link(v_other, 'plan', 0, coalesce(v_other.total, 0))
      else app.lineage_link(v_other, 'all', 0, coalesce(v_other.total, 0))
    end;
  end loop;
  for v_other in
    select s.* from app.stages s
     where s.tenant_id = v_tenant and s.job_id = v_stage.job_id and v_stage.number = any (s.after)
     order by s.number
  loop
    v_children := '{}'::bigint[];
    if v_other.of_number is not distinct from v_stage.number and v_other.parallelism = 'fan_out' and v_other.total is not null then
      v_children := array(
        select t.ordinal
          from (select * from app.tasks k where k.stage_id = v_other.stage_id order by k.ordinal limit c_children) t
         where t.parent = v_name
         order by t.ordinal);
    end if;
    v_down := v_down || case
      when v_other.total is null then app.lineage_link(v_other, 'unplanned', 0, 0)
      when v_children <> '{}' and v_children[cardinality(v_children)] - v_children[1] + 1 = cardinality(v_children)
        then app.lineage_link(v_other, 'task', v_children[1], v_children[1] + cardinality(v_children))
      when v_other.of_number is distinct from v_stage.number then app.lineage_link(v_other, 'all', 0, v_other.total)
      when v_other.parallelism = 'match_previous' then app.lineage_link(v_other, 'task', v_ordinal, v_ordinal + 1)
      when v_other.parallelism = 'fan_out' then app.lineage_link(v_other, 'plan', 0, v_other.total)
      when v_other.parallelism = 'fan_in' and v_other.batch is not null
        then app.lineage_link(v_other, 'batch', v_ordinal / v_other.batch, v_ordinal / v_other.batch + 1)
      else app.lineage_link(v_other, 'all', 0, v_other.total)
    end;
  end loop;
  return json_build_object('task_id', task_id, 'job_id', v_stage.job_id, 'stage', v_stage.name, 'parallelism', v_stage.parallelism,
    'up', array_to_json(v_up), 'down', array_to_json(v_down));
end $$;
grant execute on function app.task_lineage(text, text) to fanfold_api, fanfold_admin;
