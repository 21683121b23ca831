-- What follows from a new request, in the transaction that submits it and before anything of it opens: a function that raises an error here
-- refuses it. `asked` is the submit as it was sent. The caller made the row.
create or replace function platform.request_submitted(request platform.requests, asked jsonb)
returns void
language plpgsql
as $$
begin
  perform platform.enter_release(request, asked);
  perform platform.note(request, 'request.submitted', null, jsonb_build_object('run', request.run, 'data_type', request.data_type),
    asked ->> 'actor');
end $$;
