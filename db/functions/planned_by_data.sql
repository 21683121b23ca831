-- The tasks that a data plan with `each` or templates makes. `loaded` holds results that had been spilled, by ordinal; `total`
-- is null when the items say how many there are.
create or replace function app.planned_by_data(stage app.stages, job app.jobs, previous app.stages, loaded jsonb, total bigint)
returns table (ordinal bigint, index text, parent text, parameters jsonb, metadata jsonb)
language plpgsql
as $$
#variable_conflict use_column
declare
  v_plan jsonb := stage.plan;
begin
  return query
    with items as (
      select o as ordinal, null::jsonb as item from generate_series(0, total - 1) o where total is not null
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
           where total is null
           order by s.ordinal, p.position
        ) i
    ),
    filled as (
      select i.ordinal, i.item, jsonb_build_object('item', i.item, 'ordinal', i.ordinal, 'parameters', job.parameters) as scope
        from items i
    )
    select
      f.ordinal,
      app.fill_template(v_plan -> 'index', f.scope) #>> '{}',
      app.fill_template(v_plan -> 'parent', f.scope) #>> '{}',
      case
        when v_plan ? 'parameters' then app.fill_template(v_plan -> 'parameters', f.scope)
        when jsonb_typeof(f.item) = 'object' then f.item
        when f.item is not null then jsonb_build_object('item', f.item)
      end,
      app.fill_template(v_plan -> 'metadata', f.scope)
    from filled f;
end $$;
