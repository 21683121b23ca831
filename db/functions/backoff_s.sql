-- Full jitter, capped; the exponent is bounded before it is raised, so no attempt number overflows.
create or replace function app.backoff_s(attempt integer, chance double precision, base_s numeric default 1, cap_s numeric default 300)
returns double precision
language sql immutable
as $$
  select chance * least(cap_s, base_s * power(2, least(greatest(attempt, 1) - 1, 30)))::double precision
$$;
