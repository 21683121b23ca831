-- Returns the tasks of a stage that ran before whose input these ordinals of the predecessor `number` are. A task reads what its kind
-- lets it read: its own predecessor, its batch, or everything; of a stage that is not the one it follows (`of`), everything. A
-- fan-out is planned again instead.
create or replace function app.tasks_that_follow(stage app.stages, number integer, changed int8multirange)
returns int8multirange
language sql stable
as $$
  select case
    when isempty(changed) then '{}'
    when stage.of_number is distinct from number then int8multirange(int8range(0, stage.total))
    when stage.parallelism = 'match_previous' then changed
    when stage.parallelism = 'fan_out' then '{}'
    when stage.parallelism = 'fan_in' and stage.batch is not null then (
      select range_agg(int8range(lower(c) / stage.batch, (upper(c) - 1) / stage.batch + 1)) from unnest(changed) c)
    else int8multirange(int8range(0, stage.total))
  end
$$;
