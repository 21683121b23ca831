-- Inserts the tasks of a stage whose plan is data and starts it. `loaded` holds results that had been spilled, by ordinal.
create or replace function app.plan_by_data(stage app.stages, job app.jobs, previous app.stages, loaded jsonb)
returns bigint
language plpgsql
as $$
declare
  v_plan jsonb := stage.plan;
  v_total bigint;
begin
  if stage.parallelism = 'match_previous' then
    return app.plan_matching(stage, previous);
  elsif stage.parallelism = 'fan_in' then
    v_total := app.plan_size(stage, job, previous);
  elsif v_plan ? 'count' then
    v_total := app.plan_count(stage, job);
  elsif (v_plan ? 'each') is not true then
    -- "is not true", because a stage without any plan is one task too.
    v_total := 1;
  end if;

  if v_total is not null and not (coalesce(v_plan, '{}') ?| array['index', 'parameters', 'metadata', 'parent']) then
    insert into app.tasks (stage_id, ordinal, tenant_id)
    select stage.stage_id, o, stage.tenant_id from generate_series(0, v_total - 1) o;
  else
    with items as (
      select o as ordinal, null::jsonb as item from generate_series(0, v_total - 1) o where v_total is not null
      union all
      select row_number() over () - 1, i.item
        from (
          select p.item
            from (
              select 0 as ordinal, job.parameters as source where stage.parallelism = 'single'
              union all
              select r.ordinal, coalesce(r.result, loaded -> r.ordinal::text)
                from app.results r
               where stage.parallelism = 'fan_out' and r.stage_id = previous.stage_id and r.status = 'completed'
            ) s,
            jsonb_path_query(s.source, (v_plan ->> 'each')::jsonpath) with ordinality p(item, position)
           where v_total is null
           order by s.ordinal, p.position
        ) i
    ),
    filled as (
      select i.ordinal, i.item, jsonb_build_object('item', i.item, 'ordinal', i.ordinal, 'parameters', job.parameters) as scope
        from items i
    )
    insert into app.tasks (stage_id, ordinal, tenant_id, index, parent, parameters, metadata)
    select
      stage.stage_id, f.ordinal, stage.tenant_id,
      app.fill_template(v_plan -> 'index', f.scope) #>> '{}',
      app.fill_template(v_plan -> 'parent', f.scope) #>> '{}',
      case
        when v_plan ? 'parameters' then app.fill_template(v_plan -> 'parameters', f.scope)
        when jsonb_typeof(f.item) = 'object' then f.item
        when f.item is not null then jsonb_build_object('item', f.item)
      end,
      app.fill_template(v_plan -> 'metadata', f.scope)
    from filled f;
    get diagnostics v_total = row_count;
  end if;
  perform app.start_stage(stage, v_total, 0, case when v_total > 0 then int8multirange(int8range(0, v_total)) else '{}' end,
    app.largest_parameters(stage));
  return v_total;
end $$;
