-- What is wrong with a recipe that came as data, all at once, as [{path, problem, fix}]. The TypeScript registry says the same earlier;
-- this guards what psql and HTTP send.
create or replace function platform.recipe_problems(recipe jsonb)
returns jsonb
language plpgsql stable
as $$
declare
  v_problems jsonb := '[]'::jsonb;
  v_job jsonb;
  v_number integer := 0;
  v_path text;
  v_names text[] := '{}'::text[];
  v_found text;
begin
  if jsonb_typeof(recipe) is distinct from 'object' then
    return '[{"path": "$", "problem": "the recipe is not an object", "fix": "send {data_type, jobs: [...]}"}]'::jsonb;
  end if;
  if pg_column_size(recipe) > 262144 then
    return jsonb_build_array(jsonb_build_object('path', '$', 'problem', 'larger than 256 KB', 'fix', 'declare less'));
  end if;
  if coalesce(recipe ->> 'data_type', '') !~ '^[a-z][a-z0-9_]{0,62}$' then
    v_problems := v_problems || jsonb_build_object('path', '$.data_type', 'problem', 'malformed data type', 'fix', 'lower-case letters, digits and _, starting with a letter');
  end if;
  if jsonb_typeof(recipe -> 'jobs') is distinct from 'array' or jsonb_array_length(recipe -> 'jobs') not between 1 and 100 then
    return v_problems || jsonb_build_object('path', '$.jobs', 'problem', 'jobs must be a list of 1 to 100 jobs', 'fix', 'declare at least one: {name, job}');
  end if;
  for v_job in select j from jsonb_array_elements(recipe -> 'jobs') j loop
    v_path := '$.jobs[' || v_number || ']';
    v_number := v_number + 1;
    if jsonb_typeof(v_job) is distinct from 'object' then
      v_problems := v_problems || jsonb_build_object('path', v_path, 'problem', 'not an object', 'fix', 'a job is {name, job, …}');
      continue;
    end if;
    for v_found in
      select p from (values
        (coalesce(v_job ->> 'name', '') !~ '^[a-z][a-z0-9_]{0,62}$', 'name|malformed name'),
        (v_job ->> 'name' = any (v_names), 'name|a second job of this name'),
        (coalesce(v_job ->> 'job', '') !~ '^[a-z][a-z0-9_]{0,62}$', 'job|malformed job type'),
        (v_job ? 'number' and v_job ->> 'number' is distinct from v_number::text, 'number|jobs are numbered from 1 in order'),
        (app.not_a_count(v_job -> 'sequence', 1, 100), 'sequence|not a whole number from 1 to 100'),
        (coalesce(v_job ->> 'importance', 'critical') not in ('critical', 'important', 'optional'), 'importance|not one of critical, important, optional'),
        (jsonb_typeof(coalesce(v_job -> 'after', '[]')) <> 'array' or exists (
          select from jsonb_array_elements_text(case jsonb_typeof(v_job -> 'after') when 'array' then v_job -> 'after' else '[]' end) a
           where a !~ '^[0-9]{1,3}$' or a::integer not between 1 and v_number - 1), 'after|a job may only come after jobs before it in the list'),
        (jsonb_typeof(coalesce(v_job -> 'gate', 'null')) not in ('null', 'object')
          or (jsonb_typeof(v_job -> 'gate') = 'object' and (jsonb_typeof(v_job -> 'gate' -> 'message') is distinct from 'string'
            or length(v_job -> 'gate' ->> 'message') not between 1 and 1000)), 'gate|not {"message": "what is to be approved"}'),
        (jsonb_typeof(coalesce(v_job -> 'parameters', 'null')) not in ('null', 'object')
          or (jsonb_typeof(v_job -> 'parameters') = 'object' and not v_job -> 'parameters' ?| array['template', 'function']),
          'parameters|neither {"template": …} nor {"function": …}'),
        (cardinality(app.template_names(v_job #> '{parameters,template}')) > 200, 'parameters|names more than 200 values in its template')
      ) as checks(bad, p) where bad
    loop
      v_problems := v_problems || jsonb_build_object(
        'path', v_path || '.' || split_part(v_found, '|', 1), 'problem', split_part(v_found, '|', 2),
        'fix', 'got ' || left(coalesce((v_job -> split_part(v_found, '|', 1))::text, 'nothing'), 80));
    end loop;
    v_problems := v_problems || (
      select coalesce(jsonb_agg(jsonb_build_object('path', v_path || p.place) || p.found), '[]')
        from (values
          ('.when.path', case when v_job -> 'when' ? 'path' then app.path_problem(v_job -> 'when' ->> 'path', true) end),
          ('.gate.when', case when v_job -> 'gate' ? 'when' then app.path_problem(v_job -> 'gate' ->> 'when', true) end)
        ) as p(place, found)
       where p.found is not null);
    v_names := v_names || (v_job ->> 'name');
  end loop;
  return v_problems;
end $$;
