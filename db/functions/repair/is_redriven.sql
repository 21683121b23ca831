-- Does a failure fit what is to run again? wanted: {task_type?, job_type?, signature?, failed_after?, failed_before?}; types are looked at by the
-- callers.
create or replace function app.is_redriven(wanted jsonb, error jsonb, failed_at timestamptz)
returns boolean
language sql stable
as $$
  select (not wanted ? 'signature' or app.signature_of(error) = wanted ->> 'signature')
    and (not wanted ? 'failed_after' or failed_at >= (wanted ->> 'failed_after')::timestamptz)
    and (not wanted ? 'failed_before' or failed_at < (wanted ->> 'failed_before')::timestamptz)
$$;
