-- Is this stage, not planned yet, always exactly one task, whatever came before it?
create or replace function app.is_plain(stage app.stages)
returns boolean
language sql immutable
as $$
  select stage.plan is null and stage.condition is null and stage.gate is null and stage.total is null
    and (stage.parallelism = 'single' or (stage.parallelism = 'fan_in' and stage.batch is null))
$$;
