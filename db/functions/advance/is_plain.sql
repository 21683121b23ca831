-- Is a stage of these settings always exactly one task, whatever came before it: no condition, no approval, no plan?
create or replace function app.is_plain(parallelism app.parallelism, batch integer, plan jsonb, condition jsonb, gate jsonb)
returns boolean
language sql immutable
as $$
  select plan is null and condition is null and gate is null and (parallelism = 'single' or (parallelism = 'fan_in' and batch is null))
$$;
