-- A person approves or rejects a job of a request that waits for it. Approved, it opens; rejected, it fails and says so.
create or replace function platform.decide_gate(
  request_id text, approved boolean, job text default null, reason text default null, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, platform, app, pg_temp
as $$
declare
  v_request platform.requests := platform.find_request(app.acting_tenant(tenant), decide_gate.request_id);
  v_job platform.request_jobs;
  v_by constant text := coalesce(left(actor, 200), session_user);
  v_reviewed boolean;
begin
  if not approved and coalesce(btrim(reason), '') = '' then
    raise exception 'a rejection says why' using errcode = 'FF002', hint = 'give a reason';
  end if;
  select * into v_request from platform.requests r
   where r.tenant_id = v_request.tenant_id and r.request_id = v_request.request_id for no key update;
  select * into v_job from platform.request_jobs j
   where j.tenant_id = v_request.tenant_id and j.request_id = v_request.request_id and j.phase = 'waiting_approval' and (job is null or j.name = job)
   order by j.number limit 1;
  if not found then
    raise exception 'no job of request % waits for an approval', v_request.request_id
      using errcode = 'FF006', hint = 'see its jobs', detail = app.action('requests.status', request_id => v_request.request_id);
  end if;
  if approved and exists (
    select from platform.releases l
     where l.tenant_id = v_request.tenant_id and l.dataset_id = v_request.dataset_id and l.resource_id = v_request.resource_id
       and l.version_id = v_request.version_id and l.wants_approval and l.request_id <> v_request.request_id) then
    raise exception 'run % of version % was overwritten by a later one: it is not published', v_request.run, v_request.version_id
      using errcode = 'FF006', hint = 'decide about the later run, and cancel this one', detail = app.action('requests.cancel', request_id => v_request.request_id);
  end if;
  -- Where the release waits for a review this is it; decide_release has decided already.
  update platform.releases l
     set approval = case when approved then 'approved' else 'rejected' end, reviewer = v_by, reason = left(decide_gate.reason, 1000), decided_at = now(),
         updated_at = now(), clearance = case when approved then 'restricted' else 'uncleared' end
   where l.tenant_id = v_request.tenant_id and l.request_id = v_request.request_id and l.wants_approval and l.approval = 'pending_review';
  -- The other gates that ask for this very review have their answer too.
  v_reviewed := not platform.waits_for_review(v_request);
  update platform.request_jobs j
     set decision = jsonb_build_object('approved', approved, 'by', v_by, 'why', left(reason, 1000), 'at', now()),
         phase = case when approved then app.stage_status 'waiting' else 'failed' end, closed_at = case when not approved then now() end,
         error = case when not approved then jsonb_build_object(
           'category', 'permanent', 'code', 'rejected', 'message', v_by || ' rejected it: ' || left(reason, 1000)) end
   where j.tenant_id = v_job.tenant_id and j.request_id = v_job.request_id
     and (j.number = v_job.number or v_reviewed and j.phase = 'waiting_approval' and j.gate ? 'release');
  perform platform.note(v_request, case when approved then 'request.approved' else 'request.rejected' end, reason,
    jsonb_build_object('job', v_job.name), actor);
  perform platform.tell_receivers(v_request, case when approved then 'request.approved' else 'request.rejected' end);
  perform platform.advance(v_request.tenant_id, v_request.request_id);
  return platform.submitted_record(v_request.tenant_id, v_request.request_id, false, false);
end $$;
grant execute on function platform.decide_gate(text, boolean, text, text, text, text) to fanfold_api, fanfold_admin;
