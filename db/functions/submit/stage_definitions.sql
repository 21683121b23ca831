-- The stages of a blueprint with every default in place: linear unless `after` says otherwise.
create or replace function app.stage_definitions(blueprint jsonb)
returns table (
  number integer, name text, task_type text, parallelism app.parallelism, importance app.importance, after integer[],
  of_number integer, batch integer, max_parallel integer, timeout_s integer, max_attempts smallint, retry jsonb, budget_count bigint,
  budget_percent numeric, condition jsonb, plan jsonb, description text, on_task_failure text, gate jsonb)
language sql immutable rows 5
as $$
  select
    s.number::integer, s.stage ->> 'name', s.stage ->> 'task',
    coalesce(s.stage ->> 'parallelism', 'single')::app.parallelism,
    coalesce(s.stage ->> 'importance', 'critical')::app.importance,
    a.after,
    coalesce((s.stage ->> 'of')::numeric::integer, case when cardinality(a.after) = 1 then a.after[1] end),
    (s.stage ->> 'batch')::numeric::integer, (s.stage ->> 'max_parallel')::numeric::integer,
    case when s.stage ? 'timeout_s' then (s.stage ->> 'timeout_s')::numeric::integer else 1800 end,
    coalesce((s.stage #>> '{retry,attempts}')::numeric, (s.stage ->> 'max_attempts')::numeric)::smallint,
    case jsonb_typeof(s.stage -> 'retry') when 'object' then nullif(jsonb_strip_nulls(s.stage -> 'retry') - 'attempts', '{}') end,
    (s.stage #>> '{failure_budget,count}')::numeric::bigint, (s.stage #>> '{failure_budget,percent}')::numeric,
    nullif(s.stage -> 'when', 'null'), nullif(s.stage -> 'plan', 'null'), s.stage ->> 'description',
    coalesce(s.stage ->> 'on_task_failure', 'finish_stage'), nullif(s.stage -> 'gate', 'null')
  from jsonb_array_elements(blueprint -> 'stages') with ordinality s(stage, number)
  cross join lateral (
    select case
      when jsonb_typeof(s.stage -> 'after') = 'array' then array(select distinct e::integer from jsonb_array_elements_text(s.stage -> 'after') e)
      when s.number > 1 then array[(s.number - 1)::integer]
      else '{}'::integer[]
    end as after
  ) a
$$;
