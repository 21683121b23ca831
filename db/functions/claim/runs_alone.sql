-- Whether the one range that a stage has ready may be taken without counting what else of the stage runs. A single expression, so that it
-- becomes a part of whatever statement asks.
create or replace function app.runs_alone(stage app.stages)
returns boolean
language sql immutable
as $$ select stage.closed_at is null and not stage.paused and (stage.max_parallel is null or stage.total <= stage.max_parallel) $$;
