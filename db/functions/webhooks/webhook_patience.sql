-- How much an endpoint may fail: sends in a row until it is paused, the first pause and the longest, how long it may go on until
-- it is disabled, and how many sends that takes at least.
create or replace function app.webhook_patience(
  out pause_after integer, out pause_s double precision, out longest_pause_s double precision,
  out disable_after interval, out disable_after_sends integer)
language sql immutable
as $$ select 5, 60::double precision, 3600::double precision, interval '5 days', 10 $$;
