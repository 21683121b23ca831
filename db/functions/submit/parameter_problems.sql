-- What the schema of a job type's parameters says against them, as far as its first level tells: what is missing, what it does not
-- know, and what is of another kind. TypeScript checks all of it; here the tasks find the rest.
create or replace function app.parameter_problems(schema jsonb, parameters jsonb)
returns jsonb
language sql immutable
as $$
  select coalesce(jsonb_agg(jsonb_build_object('path', '$.parameters.' || p.name, 'problem', p.problem, 'fix', p.fix) order by p.name), '[]')
    from (
      select r as name, 'is missing' as problem, coalesce(schema #>> array['properties', r, 'description'], 'give it') as fix
        from jsonb_array_elements_text(case jsonb_typeof(schema -> 'required') when 'array' then schema -> 'required' else '[]' end) r
       where not parameters ? r
      union all
      select k, 'is not one of its parameters', 'it has ' || coalesce((
          select string_agg(n, ', ') from jsonb_object_keys(schema -> 'properties') n), 'none')
        from jsonb_object_keys(parameters) k
       where schema -> 'additionalProperties' = 'false' and not coalesce(schema -> 'properties' ? k, false)
      union all
      select e.key, 'is ' || jsonb_typeof(e.value) || ', not ' || (schema #>> array['properties', e.key, 'type']), 'see the schema in its blueprint'
        from jsonb_each(parameters) e
       where jsonb_typeof(schema #> array['properties', e.key, 'type']) = 'string'
         and jsonb_typeof(e.value) <> replace(schema #>> array['properties', e.key, 'type'], 'integer', 'number')
    ) p
$$;
