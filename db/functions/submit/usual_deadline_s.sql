-- The deadline of a job whose submit names none: its blueprint's, where null is none; else two hours. Nothing runs for ever because nobody
-- thought of it.
create or replace function app.usual_deadline_s(blueprint jsonb)
returns double precision
language sql immutable
as $$
  select case when blueprint -> 'deadline_s' = 'null' then null else coalesce((blueprint ->> 'deadline_s')::double precision, 7200) end
$$;
