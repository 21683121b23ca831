-- What is wrong with settings of retries that came as data: {attempts?, base_s?, cap_s?, within_s?}. src/core/declare/retry.ts says the
-- same earlier.
create or replace function app.retry_problems(retry jsonb)
returns table (field text, problem text, fix text)
language sql immutable rows 1
as $$
  select c.field, c.problem, c.fix
    from (select case jsonb_typeof(retry) when 'object' then retry else '{}'::jsonb end as given) g,
      lateral (values
        ('retry', 'not an object', '{"attempts": 5, "within_s": 900}', jsonb_typeof(retry) not in ('object', 'null')),
        ('retry', 'has a key that is none of attempts, base_s, cap_s, within_s', 'leave it out',
          exists (select from jsonb_object_keys(g.given) k where k not in ('attempts', 'base_s', 'cap_s', 'within_s'))),
        ('retry.attempts', 'not a whole number from 1 to 10000', '5', app.not_a_count(g.given -> 'attempts', 1, 10000)),
        ('retry.base_s', 'not a number of seconds from 0.01 to 3600', '1', app.not_a_number(g.given -> 'base_s', 0.01, 3600)),
        ('retry.cap_s', 'not a number of seconds from 0.01 to 3600', '60', app.not_a_number(g.given -> 'cap_s', 0.01, 3600)),
        ('retry.within_s', 'not a number of seconds from 0 to 604800', '600', app.not_a_number(g.given -> 'within_s', 0, 604800))
      ) as c(field, problem, fix, bad)
   where c.bad
$$;
