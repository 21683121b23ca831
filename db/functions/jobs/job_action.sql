-- Returns the action that app.job_hint speaks of, or null where it speaks of no action.
create or replace function app.job_action(status app.job_status, job_id text)
returns jsonb
language sql stable
as $$
  select case
    when status in ('queued', 'processing') then app.action('watch', job_id => job_id)
    when status <> 'completed' then app.action('resume', job_id => job_id)
  end
$$;
