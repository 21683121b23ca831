-- The deadline of a job whose submit names none: its blueprint's, else two hours. Nothing runs for ever because nobody thought of it.
create or replace function app.usual_deadline_s(blueprint jsonb)
returns double precision
language sql immutable
as $$
  select coalesce((blueprint ->> 'deadline_s')::double precision, 7200)
$$;
