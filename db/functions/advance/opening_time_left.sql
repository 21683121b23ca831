-- What a transaction may still spend on judging conditions and planning stages, in seconds; what is left then is put off to claims of
-- its own. A finish opens what it closed the way for, and others' finishes wait behind it; a submit takes the time of its caller.
-- `spent` is added to what the transaction has spent so far.
create or replace function app.opening_time_left(job app.jobs, spent interval)
returns double precision
language plpgsql
as $$
declare
  v_spent double precision := coalesce(nullif(current_setting('fanfold.opening_s', true), ''), '0')::double precision;
begin
  if spent > interval '0' then
    v_spent := v_spent + extract(epoch from spent);
    perform set_config('fanfold.opening_s', v_spent::text, true);
  end if;
  return case when job.created_at = now() then 5 else 0.25 end - v_spent;
end $$;
