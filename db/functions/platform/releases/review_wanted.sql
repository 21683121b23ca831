-- A request ended: where its release waits for a review that no gate has asked for, somebody is told. The caller holds the request's row.
create or replace function platform.review_wanted(request platform.requests)
returns void
language plpgsql
as $$
begin
  if request.status in ('completed', 'partial_success') and platform.waits_for_review(request) then
    perform platform.note(request, 'request.approval_wanted', 'its release waits for a review');
    perform platform.tell_receivers(request, 'request.approval_wanted');
  end if;
end $$;
