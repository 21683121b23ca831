-- Refuses a request that is malformed, all problems at once.
create or replace function platform.check_submitted(asked jsonb)
returns void
language plpgsql stable
as $$
declare
  c_names constant text := '^[^\u0001-\u001f\u007f-\u009f]+$';
  v_problems jsonb;
begin
  if jsonb_typeof(asked) is distinct from 'object' then
    raise exception 'a request is a JSON object' using errcode = 'FF002', hint = 'send {dataset_id, resource_id, version_id, …}';
  end if;
  if not app.is_server() then
    perform app.refuse_wild_numbers(asked);
  end if;
  select jsonb_agg(jsonb_build_object('path', '$.' || p.field, 'problem', p.problem, 'fix', p.fix))
    into v_problems
    from (
      select n.field, 'not a name of 1 to ' || n.most || ' characters' as problem, 'say which ' || replace(n.field, '_id', '') || ' this is' as fix
        from (values ('dataset_id', 255), ('resource_id', 255), ('version_id', 50)) as n(field, most)
       where jsonb_typeof(asked -> n.field) is distinct from 'string' or length(asked ->> n.field) not between 1 and n.most
         or (asked ->> n.field) !~ c_names
      union all
      select c.field, c.problem, c.fix
        from (values
          ('mode', 'not one of reuse, resume, force', 'leave it out to submit once', coalesce(asked ->> 'mode', 'reuse') not in ('reuse', 'resume', 'force')),
          ('files', 'not a list of at most 10,000 places', '["bronze:scene.tif"]', jsonb_typeof(coalesce(asked -> 'files', '[]')) not in ('array', 'null')
            or case jsonb_typeof(asked -> 'files') when 'array' then jsonb_array_length(asked -> 'files') > 10000
              or exists (select from jsonb_array_elements(asked -> 'files') f where jsonb_typeof(f) <> 'string' or length(f #>> '{}') not between 1 and 1024) else false end),
          ('parameters', 'not an object', '{} when there are none', jsonb_typeof(coalesce(asked -> 'parameters', '{}')) not in ('object', 'null')),
          ('parameters', 'more than 262144 bytes', 'put the data into storage and pass a reference', octet_length((asked -> 'parameters')::text) > 262144),
          ('metadata', 'not an object of at most 16384 bytes', '{"client_id": "ddh"}', jsonb_typeof(coalesce(asked -> 'metadata', '{}')) not in ('object', 'null')
            or octet_length((asked -> 'metadata')::text) > 16384),
          ('labels', 'not an object of short strings', '{"team": "hydro"}', jsonb_typeof(coalesce(asked -> 'labels', '{}')) not in ('object', 'null')
            or octet_length((asked -> 'labels')::text) > 16384),
          ('priority', 'not a whole number from -32768 to 32767', 'higher runs first, 0 is usual',
            jsonb_typeof(coalesce(asked -> 'priority', 'null')) not in ('number', 'null') or case jsonb_typeof(asked -> 'priority') when 'number' then
              (asked ->> 'priority')::numeric not between -32768 and 32767 or (asked ->> 'priority')::numeric <> trunc((asked ->> 'priority')::numeric) else false end),
          ('run_at', 'not a time', 'write e.g. 2030-01-01T00:00:00Z', asked ->> 'run_at' is not null and not app.is_time(asked ->> 'run_at')),
          ('correlation_id', 'not a text of at most 200 characters', 'shorten it', jsonb_typeof(coalesce(asked -> 'correlation_id', 'null')) not in ('string', 'null')
            or length(asked ->> 'correlation_id') > 200)
        ) as c(field, problem, fix, wrong)
       where c.wrong
    ) p;
  perform app.refuse_problems('the request', v_problems);
end $$;
