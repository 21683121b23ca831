-- Goes on with a request that did not end well: its jobs that did not are resumed, by ascending id, and what never opened waits again.
-- Two at once: one opens the epoch, the other is told.
create or replace function platform.resume(request platform.requests, reason text, actor text)
returns void
language plpgsql
as $$
declare
  v_request platform.requests;
  v_jobs text[];
  v_job app.jobs;
begin
  perform app.lock_named(request.tenant_id || ' request ' || request.request_id);
  select * into v_request from platform.requests r where r.tenant_id = request.tenant_id and r.request_id = request.request_id;
  if v_request.finished_at is null then
    raise exception 'request % is %: what has not ended cannot be resumed', v_request.request_id, v_request.status
      using errcode = 'FF003', hint = 'follow it', detail = app.action('requests.status', request_id => v_request.request_id);
  elsif v_request.status = 'completed' then
    raise exception 'request % is completed: there is nothing to resume', v_request.request_id
      using errcode = 'FF006', hint = 'submit it with mode "force" to process it again';
  end if;
  -- Those behind one that is resumed wait for it, and are made again where it gives them another input.
  v_jobs := array(
    select q.job_id
      from platform.request_jobs j
      join app.jobs q on q.tenant_id = j.tenant_id and q.job_id = j.job_id
     where j.tenant_id = v_request.tenant_id and j.request_id = v_request.request_id and j.phase = 'processing'
       and q.status in ('failed', 'cancelled', 'partial_success')
       and not exists (
         select from platform.request_jobs b
           join app.jobs p on p.tenant_id = b.tenant_id and p.job_id = b.job_id
          where b.tenant_id = j.tenant_id and b.request_id = j.request_id and b.number = any (platform.all_before(j)) and b.phase = 'processing'
            and p.status in ('failed', 'cancelled', 'partial_success'))
     order by q.job_id);
  -- All of them before the request: one that is repaired reopens it, and must not hold it while the next is waited for.
  v_jobs := app.hold_jobs(v_request.tenant_id, v_jobs, true);
  for v_job in
    select q.* from app.jobs q
     where q.tenant_id = v_request.tenant_id and q.job_id = any (v_jobs) and q.finished_at is not null order by q.job_id
  loop
    perform app.repair_job(v_job, 'resume', null, false, reason, actor);
  end loop;
  perform platform.reopen(v_request.tenant_id, v_request.request_id, null, reason, actor);
  perform platform.advance(v_request.tenant_id, v_request.request_id);
end $$;
