-- A request ended: where its release waits for a review that no gate has asked for, somebody is told. The caller holds the request's row.
create or replace function platform.review_wanted(request platform.requests)
returns void
language plpgsql
as $$
begin
  if request.status in ('completed', 'partial_success') and exists (
    select from platform.releases l where l.tenant_id = request.tenant_id and l.request_id = request.request_id and l.approval = 'pending_review') then
    perform platform.note(request, 'request.approval_wanted', 'its release waits for a review');
    perform platform.tell_receivers(request, 'request.approval_wanted');
  end if;
end $$;
