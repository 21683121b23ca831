-- What a subscriber is sent of a request: results when it ended well, else how it is.
create or replace function platform.subscriber_payload(request platform.requests, subscriber jsonb)
returns text
language plpgsql stable
as $$
begin
  if request.status in ('completed', 'partial_success') then
    return app.subscriber_results(subscriber, request.request_id, request.result_data, true)::text;
  end if;
  return app.subscriber_status(subscriber, request.request_id, 'recipe.' || request.data_type, request.status::text,
    coalesce(request.error ->> 'message', request.error ->> 'code'), request.created_at, request.started_at, request.finished_at)::text;
end $$;
