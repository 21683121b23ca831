-- So many crashes, of its worker or of its own process, and a task is quarantined: failed rather than tried again.
create or replace function app.crash_budget()
returns integer
language sql immutable
as $$ select 3 $$;
