-- Does the plan of this stage depend on what came before it, so that a repair there plans it again?
create or replace function app.is_planned_again(stage app.stages)
returns boolean
language sql immutable
as $$ select stage.parallelism = 'fan_out' or coalesce(stage.plan ? 'function', false) $$;
