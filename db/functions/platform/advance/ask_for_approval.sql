-- A gate: the job waits for a person, who is told. The caller holds the request's row.
create or replace function platform.ask_for_approval(request platform.requests, request_job platform.request_jobs)
returns void
language plpgsql
as $$
begin
  update platform.request_jobs j set phase = 'waiting_approval', opened_at = now()
   where j.tenant_id = request_job.tenant_id and j.request_id = request_job.request_id and j.number = request_job.number;
  perform platform.note(request, 'request.approval_wanted', request_job.gate ->> 'message', jsonb_build_object('job', request_job.name));
  perform platform.tell_receivers(request, 'request.approval_wanted');
end $$;
