-- Does the release that a request makes wait for its review?
create or replace function platform.waits_for_review(request platform.requests)
returns boolean
language sql stable
as $$
  select exists (
    select from platform.releases l
     where l.tenant_id = request.tenant_id and l.request_id = request.request_id and l.wants_approval and l.approval = 'pending_review')
$$;
