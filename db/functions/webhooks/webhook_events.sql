-- What there is to hear of.
create or replace function app.webhook_events()
returns text[]
language sql immutable
as $$
  select array['job.completed', 'job.partial_success', 'job.failed', 'job.cancelled', 'request.completed', 'request.partial_success',
    'request.failed', 'request.cancelled', 'request.approval_wanted', 'request.approved', 'request.rejected', 'request.revoked',
    'group.completed', 'group.partial_success', 'group.failed', 'group.cancelled', 'alert.raised']
$$;
grant execute on function app.webhook_events() to fanfold_api, fanfold_worker, fanfold_admin;
