-- What numbers rows that keep their numbers when their tenant moves: in a cell each counts on in steps of 128, so that no two cells give the same
-- number. Those without a step number within a stage alone, which is in one cell at a time.
create or replace function app.cell_sequences()
returns table (name text, step bigint)
language sql immutable
as $$
  values ('app.stages_stage_id_seq', 128::bigint), ('app.attempts_attempt_id_seq', 128), ('app.task_logs_log_id_seq', 128),
    ('app.events_event_id_seq', 128), ('app.schedules_schedule_id_seq', 128), ('app.lone_ordinals', null), ('app.lone_blocks', null)
$$;
