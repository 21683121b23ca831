-- So many failures of a stage are looked at where they are only to be told of.
create or replace function app.failures_seen()
returns integer
language sql immutable
as $$ select 20000 $$;
