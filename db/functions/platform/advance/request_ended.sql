-- What follows from the end of a request, in the transaction that ends it. The caller holds its row, which says how it ended.
create or replace function platform.request_ended(request platform.requests)
returns void
language plpgsql
as $$
begin
  perform platform.tell_receivers(request, 'request.' || request.status);
  perform platform.review_wanted(request);
end $$;
