-- A request goes on because one of its jobs does (`job`), or because it was resumed (null): it is open again in a new epoch, once, and
-- what waits for a job that runs again waits again. What was skipped for want of it, cancelled, rejected or never made opens anew; what
-- completed is looked at again when its turn comes (still_stands). The caller does not hold the request's row yet.
create or replace function platform.reopen(tenant text, request text, job text, reason text default null, actor text default null)
returns void
language plpgsql
as $$
declare
  v_request platform.requests;
begin
  if job is not null and not exists (select from platform.request_jobs j where j.tenant_id = tenant and j.job_id = job) then
    -- A later one has taken its place.
    return;
  end if;
  select * into v_request from platform.requests r where r.tenant_id = tenant and r.request_id = request for no key update;
  update platform.request_jobs j
     set phase = 'waiting', closed_at = null, skip_reason = null, error = null,
         parameters = j.parameters - 'made', condition = j.condition - 'met',
         decision = case when (j.decision ->> 'approved')::boolean then j.decision end
   where j.tenant_id = tenant and j.request_id = request
     and (
       (job is null and (j.phase in ('failed', 'cancelled') or (j.phase = 'skipped' and j.skip_reason = 'upstream')))
       or exists (
         select from platform.request_jobs b
           join app.jobs q on q.tenant_id = b.tenant_id and q.job_id = b.job_id
          where b.tenant_id = tenant and b.request_id = request and b.number = any (platform.all_before(j)) and b.phase = 'processing'
            and q.finished_at is null
            -- One that runs already keeps what it was given.
            and not exists (select from app.jobs o where o.tenant_id = j.tenant_id and o.job_id = j.job_id and o.finished_at is null)));
  if v_request.finished_at is null then
    return;
  end if;
  update platform.requests r
     set status = 'processing', epoch = r.epoch + 1, resume_count = r.resume_count + 1, finished_at = null, error = null, result_data = null,
         updated_at = now()
   where r.tenant_id = tenant and r.request_id = request
  returning * into v_request;
  perform platform.note(v_request, 'request.resumed', reason, jsonb_build_object('epoch', v_request.epoch), actor);
end $$;
