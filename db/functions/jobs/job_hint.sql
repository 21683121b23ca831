-- What can be done with a job in this status, in one sentence; app.job_action is the step it leads to. Stable, as the text of an enum
-- is: otherwise it is planned anew at each call instead of becoming a part of the caller.
create or replace function app.job_hint(status app.job_status)
returns text
language sql stable
as $$
  select case
    when status in ('queued', 'processing') then 'it is under way'
    when status = 'completed' then 'it is done; submit with mode "force" to run it once more'
    else 'it ended ' || status || ', and can go on, also by a submit with mode "resume"'
  end
$$;
