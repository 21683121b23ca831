-- What is wrong with a recipe that came as data, all at once, as [{path, problem, fix}]. The TypeScript registry says the same earlier;
-- this guards what psql and HTTP send.
create or replace function platform.recipe_problems(recipe jsonb)
returns jsonb
language plpgsql stable
as $$
declare
  v_problems jsonb;
  v_usable boolean;
  v_job jsonb;
  v_number integer := 0;
  v_path text;
  v_names text[] := '{}'::text[];
  v_found text;
begin
  select h.problems, h.usable into v_problems, v_usable
    from app.declared_list_problems(recipe, 'recipe', 'data type', 'data_type', 'jobs', 'job', 100, 256) h;
  if not v_usable then
    return v_problems;
  end if;
  for v_job in select j from jsonb_array_elements(recipe -> 'jobs') j loop
    v_path := '$.jobs[' || v_number || ']';
    v_number := v_number + 1;
    if jsonb_typeof(v_job) is distinct from 'object' then
      v_problems := v_problems || jsonb_build_object('path', v_path, 'problem', 'not an object', 'fix', 'a job is {name, job, …}');
      continue;
    end if;
    for v_found in
      select l from app.listed_problems(v_job, v_number, v_names, 'job') l
      union all
      select p from (values
        (coalesce(v_job ->> 'job', '') !~ '^[a-z][a-z0-9_]{0,62}$', 'job|malformed job type'),
        (app.not_a_count(v_job -> 'sequence', 1, 100), 'sequence|not a whole number from 1 to 100'),
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
