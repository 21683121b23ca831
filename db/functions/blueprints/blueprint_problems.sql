-- What is wrong with a blueprint that came as data, all at once, as [{path, problem, fix}]. The TypeScript registry says the
-- same earlier; this guards what psql and HTTP send.
create or replace function app.blueprint_problems(blueprint jsonb)
returns jsonb
language plpgsql stable
as $$
declare
  v_problems jsonb;
  v_usable boolean;
  v_stage jsonb;
  v_number integer := 0;
  v_path text;
  v_names text[] := '{}'::text[];
  v_condition text;
begin
  select h.problems, h.usable into v_problems, v_usable
    from app.declared_list_problems(blueprint, 'blueprint', 'job type', 'type', 'stages', 'stage', 1000, 1024) h;
  if app.not_a_count(blueprint -> 'deadline_s', 1, 315360000) then
    v_problems := v_problems || jsonb_build_object('path', '$.deadline_s', 'problem', 'not a whole number of seconds from 1', 'fix', 'leave it out for two hours');
  end if;
  if not v_usable then
    return v_problems;
  end if;
  for v_stage in select s from jsonb_array_elements(blueprint -> 'stages') s loop
    v_path := '$.stages[' || v_number || ']';
    v_number := v_number + 1;
    if jsonb_typeof(v_stage) is distinct from 'object' then
      v_problems := v_problems || jsonb_build_object('path', v_path, 'problem', 'not an object', 'fix', 'a stage is {name, task, …}');
      continue;
    end if;
    for v_condition in
      select l from app.listed_problems(v_stage, v_number, v_names, 'stage') l
      union all
      select p from (values
        (coalesce(v_stage ->> 'task', '') !~ '^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$' or length(v_stage ->> 'task') > 63, 'task|malformed task type'),
        (coalesce(v_stage ->> 'parallelism', 'single') not in ('single', 'fan_out', 'fan_in', 'match_previous'), 'parallelism|not one of single, fan_out, fan_in, match_previous'),
        (v_number > 1 and coalesce(v_stage ->> 'parallelism', 'single') <> 'single' and jsonb_typeof(v_stage -> 'of') = 'number'
          and not coalesce(v_stage -> 'after', jsonb_build_array(v_number - 1)) @> (v_stage -> 'of'), 'of|of is not among after'),
        (coalesce(v_stage ->> 'parallelism', 'single') <> 'single' and (v_number = 1 or v_stage -> 'after' = '[]'), 'parallelism|the first stage has no stage before it'),
        (v_stage ->> 'parallelism' = 'fan_out' and coalesce(v_stage -> 'plan', 'null') = 'null', 'plan|a fan_out says how its tasks are made'),
        (jsonb_typeof(v_stage -> 'after') = 'array' and jsonb_array_length(case jsonb_typeof(v_stage -> 'after') when 'array' then v_stage -> 'after' else '[]' end) > 1
          and coalesce(v_stage ->> 'parallelism', 'single') <> 'single' and jsonb_typeof(v_stage -> 'of') is distinct from 'number', 'of|with several after, of names the one it follows'),
        (coalesce(v_stage ->> 'parallelism', 'single') in ('fan_in', 'match_previous') and coalesce(v_stage -> 'plan', 'null') <> 'null', 'plan|the engine plans this stage itself'),
        (jsonb_typeof(coalesce(v_stage -> 'of', 'null')) not in ('null', 'number'), 'of|not the number of a stage'),
        (app.not_a_count(v_stage -> 'failure_budget' -> 'count', 0, 1000000000), 'failure_budget.count|not a whole number from 0'),
        (jsonb_typeof(coalesce(v_stage #> '{failure_budget,percent}', 'null')) not in ('null', 'number')
          or case jsonb_typeof(v_stage #> '{failure_budget,percent}') when 'number' then (v_stage #>> '{failure_budget,percent}')::numeric not between 0 and 100 else false end,
          'failure_budget.percent|not a number from 0 to 100'),
        (coalesce(v_stage ->> 'on_task_failure', 'finish_stage') not in ('finish_stage', 'fail_fast'), 'on_task_failure|not one of finish_stage, fail_fast'),
        (jsonb_typeof(coalesce(v_stage -> 'description', 'null')) not in ('null', 'string') or length(v_stage ->> 'description') > 4000,
          'description|not a text of at most 4000 characters'),
        (app.not_a_count(v_stage -> 'batch', 1, 1000000), 'batch|not a whole number from 1'),
        (app.not_a_count(v_stage -> 'max_parallel', 1, 1000000), 'max_parallel|not a whole number from 1'),
        (jsonb_typeof(coalesce(v_stage -> 'overrides', 'null')) not in ('null', 'object') and v_stage -> 'overrides' <> 'false'
          or jsonb_typeof(v_stage -> 'overrides') = 'object' and exists (
            select from jsonb_object_keys(case jsonb_typeof(v_stage -> 'overrides') when 'object' then v_stage -> 'overrides' else '{}' end) k
             where k not in ('failure_budget', 'max_parallel', 'max_attempts')), 'overrides|neither false nor {failure_budget, max_parallel, max_attempts}'),
        (app.not_a_count(v_stage #> '{overrides,max_parallel}', 1, 1000000), 'overrides.max_parallel|not a whole number from 1'),
        (app.not_a_count(v_stage #> '{overrides,max_attempts}', 1, 10000), 'overrides.max_attempts|not a whole number from 1 to 10000'),
        (app.not_a_count(v_stage #> '{overrides,failure_budget,count}', 0, 1000000000), 'overrides.failure_budget.count|not a whole number from 0'),
        (app.not_a_number(v_stage #> '{overrides,failure_budget,percent}', 0, 100), 'overrides.failure_budget.percent|not a number from 0 to 100'),
        (app.not_a_count(v_stage -> 'timeout_s', 1, 31536000), 'timeout_s|not a whole number of seconds from 1'),
        (app.not_a_count(v_stage -> 'max_attempts', 1, 10000), 'max_attempts|not a whole number from 1 to 10000'),
        (jsonb_typeof(v_stage -> 'max_attempts') = 'number' and jsonb_typeof(v_stage #> '{retry,attempts}') = 'number'
          and v_stage -> 'max_attempts' <> v_stage #> '{retry,attempts}', 'retry.attempts|another number than max_attempts; give one of them')
      ) as checks(bad, p) where bad
      union all
      select r.field || '|' || r.problem from app.retry_problems(v_stage -> 'retry') r where v_stage ? 'retry'
    loop
      v_problems := v_problems || jsonb_build_object(
        'path', v_path || '.' || split_part(v_condition, '|', 1), 'problem', split_part(v_condition, '|', 2),
        'fix', 'got ' || left(coalesce((v_stage #> string_to_array(split_part(v_condition, '|', 1), '.'))::text, 'nothing'), 80));
    end loop;
    v_problems := v_problems || (
      select coalesce(jsonb_agg(jsonb_build_object('path', v_path || p.place) || p.found), '[]')
        from (values
          ('.plan', case when cardinality(app.template_names(case jsonb_typeof(v_stage -> 'plan') when 'object' then v_stage -> 'plan' end)) > 1000 then jsonb_build_object(
            'problem', 'names more than 1000 values in its templates', 'fix', 'Name what holds several of them, e.g. {item}.') end),
          ('.plan.each', case when v_stage -> 'plan' ? 'each' then app.path_problem(v_stage -> 'plan' ->> 'each', false) end),
          ('.when.path', case when v_stage -> 'when' ? 'path' then app.path_problem(v_stage -> 'when' ->> 'path', true) end)
        ) as p(place, found)
       where p.found is not null);
    v_names := v_names || (v_stage ->> 'name');
  end loop;
  return v_problems;
end $$;
