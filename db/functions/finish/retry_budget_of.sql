-- The budget of a kind of failure, with what was said: {attempts?, base_s?, cap_s?, within_s?}. Who gives a number of attempts
-- and no time means just that number. What nobody knows, or only code does wrong, is not tried longer because a service is
-- known to be slow: there a given time can only shorten.
create or replace function app.retry_budget_of(kind text, said jsonb)
returns app.retry_budget
language sql immutable
as $$
  select (
    (said ->> 'attempts')::numeric::integer,
    coalesce((said ->> 'base_s')::double precision, d.base_s),
    coalesce((said ->> 'cap_s')::double precision, greatest(d.cap_s, (said ->> 'base_s')::double precision)),
    case
      when kind in ('unexpected', 'bug') and said ? 'within_s' then least((said ->> 'within_s')::double precision, d.within_s)
      when said ? 'within_s' then (said ->> 'within_s')::double precision
      when said ? 'attempts' then null
      else d.within_s
    end)::app.retry_budget
    from app.retry_defaults() d
   where d.kind = retry_budget_of.kind
$$;
