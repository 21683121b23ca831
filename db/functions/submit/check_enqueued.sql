-- Refuses malformed lone tasks, all problems at once.
create or replace function app.check_enqueued(tasks json)
returns void
language plpgsql stable
as $$
declare
  v_problems jsonb;
  v_too_large boolean;
begin
  if json_typeof(tasks) is distinct from 'array' or json_array_length(tasks) not between 1 and 10000 then
    raise exception 'a call enqueues 1 to 10,000 tasks' using errcode = 'FF002', hint = 'split it into several';
  end if;
  if exists (select from json_array_elements(tasks) e where json_typeof(e) <> 'object') then
    raise exception 'every task of the call is an object' using errcode = 'FF002', hint = '{"parameters": {…}}';
  end if;
  if app.may_hold_wild_numbers(tasks::text) then
    perform app.refuse_wild_numbers(t.parameters::jsonb), app.refuse_wild_numbers(t.metadata)
       from json_to_recordset(tasks) as t(parameters text, metadata jsonb);
  end if;
  select jsonb_agg(jsonb_build_object('path', '$.tasks[' || p.position - 1 || '].' || p.field, 'problem', p.problem, 'fix', p.fix)), bool_or(p.too_large)
    into v_problems, v_too_large
    from (
      select t.position, c.*, octet_length(t.parameters) > 262144 as too_large
        from rows from (json_to_recordset(tasks) as (
            parameters text, key text, delay_s numeric, priority numeric, max_attempts numeric, metadata jsonb, run_at text, retry jsonb))
          with ordinality as t(parameters, key, delay_s, priority, max_attempts, metadata, run_at, retry, position),
        lateral (values
          ('parameters', 'missing', 'an object, {} when there are none', t.parameters is null),
          ('parameters', 'not an object', '{"to": "ada"}', left(ltrim(t.parameters), 1) <> '{'),
          ('run_at', 'not a time', '2030-01-31T08:00:00Z', not app.is_time(t.run_at)),
          ('parameters', octet_length(t.parameters) || ' bytes; the limit is 262144', 'put the data into storage and pass a reference', octet_length(t.parameters) > 262144),
          ('idempotency_key', 'empty or over 65536 bytes', 'any text of 1 to 65536 bytes', octet_length(t.key) not between 1 and 65536),
          ('delay_s', 'not from 0 to ten years', 'seconds from now', t.delay_s not between 0 and 315360000),
          ('run_at', 'given together with delay_s', 'give one of them', t.run_at is not null and t.delay_s is not null),
          ('priority', 'not a whole number from -32768 to 32767', 'higher runs first, 0 is usual', t.priority not between -32768 and 32767 or t.priority <> trunc(t.priority)),
          ('max_attempts', 'not a whole number from 1 to 10000', '5', t.max_attempts not between 1 and 10000 or t.max_attempts <> trunc(t.max_attempts)),
          ('metadata', 'not an object of at most 16384 bytes', '{"source": "import"}', jsonb_typeof(t.metadata) <> 'object' or octet_length(t.metadata::text) > 16384),
          ('retry.attempts', 'another number than max_attempts', 'give one of them', t.max_attempts <> case jsonb_typeof(t.retry -> 'attempts') when 'number' then (t.retry ->> 'attempts')::numeric end)
          union all
          select r.field, r.problem, r.fix, true from app.retry_problems(t.retry) r where t.retry is not null
        ) as c(field, problem, fix, bad)
       where c.bad
       order by t.position
       limit 20
    ) p;
  perform app.refuse_problems('the call', v_problems, v_too_large);
end $$;
