-- Refuses a submit whose jobs are malformed, all problems at once.
create or replace function app.check_submitted(jobs json)
returns void
language plpgsql stable
as $$
declare
  v_problems jsonb;
  v_too_large boolean;
begin
  if json_typeof(jobs) is distinct from 'array' or json_array_length(jobs) not between 1 and 10000 then
    raise exception 'a submit carries 1 to 10,000 jobs' using errcode = 'FF002', hint = 'split it into several';
  end if;
  if app.may_hold_wild_numbers(jobs::text) then
    perform app.refuse_wild_numbers(j.parameters::jsonb), app.refuse_wild_numbers(j.labels), app.refuse_wild_numbers(j.webhooks), app.refuse_wild_numbers(j.metadata)
       from json_to_recordset(jobs) as j(parameters text, labels jsonb, webhooks jsonb, metadata jsonb);
  end if;
  select jsonb_agg(jsonb_build_object('path', '$.jobs[' || p.position - 1 || '].' || p.field, 'problem', p.problem, 'fix', p.fix)), bool_or(p.too_large)
    into v_problems, v_too_large
    from (
      select j.position, c.*, octet_length(j.parameters) > 262144 as too_large
        from rows from (json_to_recordset(jobs) as (parameters text, priority numeric, labels jsonb, metadata jsonb, correlation_id text, deadline_s numeric, no_deadline text, deadline_from text, group_id text,
            depends_on jsonb, on_dependency_failure text, require text, retry jsonb, run_at text))
          with ordinality as j(parameters, priority, labels, metadata, correlation_id, deadline_s, no_deadline, deadline_from, group_id, depends_on, on_dependency_failure, require, retry, run_at, position),
        lateral (values
          ('parameters', 'missing', 'an object, {} when there are none', j.parameters is null),
          ('parameters', 'not an object', '{} when there are none', j.parameters !~ '^\s*\{'),
          ('parameters.webhook_secret', 'a secret is not kept with a job', 'make an endpoint, whose secret is shown once, and name it: "webhooks": [{"endpoint": "…"}]',
            strpos(j.parameters, '"webhook_secret"') > 0 and case when j.parameters ~ '^\s*\{' then j.parameters::jsonb ? 'webhook_secret' end),
          ('run_at', 'not a time with its offset', '2030-01-31T08:00:00Z', j.run_at !~ '^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)$'),
          ('parameters', octet_length(j.parameters) || ' bytes; the limit is 262144', 'put the data into storage and pass a reference', octet_length(j.parameters) > 262144),
          ('priority', 'not a whole number from -32768 to 32767', 'higher runs first, 0 is usual', j.priority not between -32768 and 32767 or j.priority <> trunc(j.priority)),
          ('labels', 'not an object of short strings', '{"team": "hydro"}', jsonb_typeof(j.labels) <> 'object' or octet_length(j.labels::text) > 16384),
          ('labels', 'a key or a value holds a control character, an invisible mark, or a letter written as a letter and a mark', '{"team": "hydro"}',
            case when j.labels <> '{}' and jsonb_typeof(j.labels) = 'object' then exists (
              select from jsonb_each_text(j.labels) l
               where app.shown_problem(btrim(l.key), 16384) is not null or btrim(l.value) <> '' and app.shown_problem(btrim(l.value), 16384) is not null) end),
          ('metadata', 'not an object of at most 16 KB', '{"ticket": 17}', jsonb_typeof(j.metadata) <> 'object' or octet_length(j.metadata::text) > 16384),
          ('correlation_id', 'longer than 200 characters', 'use a short id', length(j.correlation_id) > 200),
          ('deadline_s', 'not a positive number of seconds', 'seconds from the start of its work', j.deadline_s <= 0 or j.deadline_s > 315360000),
          ('deadline_from', 'neither start nor submit', 'start: of its work, as usual; submit: what it waits counts too', j.deadline_from not in ('start', 'submit')),
          ('no_deadline', 'neither true nor false', 'true: however long it takes', j.no_deadline not in ('true', 'false')),
          ('group_id', 'not a short word', 'letters, digits and . _ : - in at most 100 characters', j.group_id !~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$'),
          ('depends_on', 'not a list of at most 1000 job ids', '["<job id>", …], or leave it out', case
            when j.depends_on is null then false
            when jsonb_typeof(j.depends_on) <> 'array' then true
            else jsonb_array_length(j.depends_on) > 1000 or exists (select from jsonb_array_elements(j.depends_on) d where jsonb_typeof(d) <> 'string') end),
          ('on_dependency_failure', 'neither cancel nor run', 'cancel, or run: it starts however the others end', j.on_dependency_failure not in ('cancel', 'run')),
          ('require', 'neither success nor completed', 'success, or completed: a partial success is not enough', j.require not in ('success', 'completed'))
          union all
          select r.field, r.problem, r.fix, true from app.retry_problems(j.retry) r where j.retry is not null
        ) as c(field, problem, fix, bad)
       where c.bad
       order by j.position
       limit 20
    ) p;
  perform app.refuse_problems('the submit', v_problems, v_too_large);
end $$;
