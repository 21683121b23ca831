-- The tasks that a data plan with `each` or templates makes. `loaded` holds results that had been spilled, by ordinal; `total`
-- is null when the items say how many there are. Counted while they are made: a few bytes of a template can name a large value often.
create or replace function app.planned_by_data(stage app.stages, job app.jobs, previous app.stages, loaded jsonb, total bigint)
returns table (ordinal bigint, index text, parent text, parameters jsonb, metadata jsonb)
language plpgsql
as $$
#variable_conflict use_column
declare
  -- What every task has of its own: plans of millions are of small ones.
  c_free constant integer := 128;
  -- Parameters that may be kept are no longer than this while they are made.
  c_task constant bigint := 2000000;
  -- A name costs something also where its value is empty.
  c_name constant integer := 16;
  c_names constant integer := 1000;
  v_plan constant jsonb := stage.plan;
  v_names constant text[] := app.template_names(v_plan - 'each' - 'count');
  -- Unpacked once, and not for every task.
  v_given constant jsonb := job.parameters || '{}';
  v_path jsonpath;
  v_row record;
  v_most bigint;
  v_bytes bigint := 0;
  v_task bigint;
begin
  if v_plan ? 'each' then
    v_path := app.checked_path(v_plan ->> 'each', false);
  end if;
  v_most := app.plan_bytes_of(stage.tenant_id);
  if cardinality(v_names) > c_names then
    raise exception 'the templates of stage "%" name % values; at most % can be filled in for each task', stage.name, cardinality(v_names), c_names
      using errcode = 'FF009', constraint = 'plan_too_large', hint = 'name what holds several of them, e.g. {item}';
  end if;
  for v_row in
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
          jsonb_path_query(s.source, v_path) with ordinality p(item, position)
         where total is null
         order by s.ordinal, p.position
      ) i
  loop
    v_task := cardinality(v_names) * c_name;
    if cardinality(v_names) * greatest(pg_column_size(v_given), pg_column_size(v_row.item))::bigint > c_task then
      perform app.assert_plan_bytes(stage, (
        select sum(pg_column_size(app.template_value(n, v_row.item, v_row.ordinal, v_given))) from unnest(v_names) n), least(v_most, c_task));
    end if;
    ordinal := v_row.ordinal;
    index := app.fill_template(v_plan -> 'index', v_row.item, v_row.ordinal, v_given) #>> '{}';
    parent := app.fill_template(v_plan -> 'parent', v_row.item, v_row.ordinal, v_given) #>> '{}';
    parameters := case
      when v_plan ? 'parameters' then app.fill_template(v_plan -> 'parameters', v_row.item, v_row.ordinal, v_given)
      when jsonb_typeof(v_row.item) = 'object' then v_row.item
      when v_row.item is not null then jsonb_build_object('item', v_row.item)
    end;
    metadata := app.fill_template(v_plan -> 'metadata', v_row.item, v_row.ordinal, v_given);
    v_task := v_task + coalesce(octet_length(index), 0) + coalesce(octet_length(parent), 0) + coalesce(pg_column_size(parameters), 0)
      + coalesce(pg_column_size(metadata), 0);
    if v_task > c_free then
      v_bytes := v_bytes + v_task - c_free;
      perform app.assert_plan_bytes(stage, v_bytes, v_most);
    end if;
    return next;
  end loop;
end $$;
