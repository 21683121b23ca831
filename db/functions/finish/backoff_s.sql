-- Seconds before try number `turn` is repeated: doubled each time, up to a cap. Equal jitter: at least half of it, so that waits
-- grow, and the rest by chance, so that what failed together does not come back together. The exponent is bounded before it is
-- raised: no number overflows.
create or replace function app.backoff_s(turn integer, chance double precision, base_s double precision, cap_s double precision)
returns double precision
language sql immutable
as $$
  select (0.5 + chance / 2) * least(cap_s, base_s * power(2, least(greatest(turn, 1) - 1, 30)))
$$;
