-- A person approves, rejects or revokes a release. With it, in one transaction: the gate of its request opens or fails, who decided and why is
-- written down, receivers are told, and what is revoked is taken down. verb: approve | reject | revoke.
create or replace function platform.decide_release(
  id text, verb text, reason text default null, clearance text default null, dry_run boolean default false, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, platform, app, pg_temp
as $$
declare
  v_tenant constant text := app.acting_tenant(tenant);
  v_by constant text := coalesce(left(actor, 200), session_user);
  v_release platform.releases := platform.find_release(v_tenant, id);
  v_request platform.requests;
  v_gate boolean;
  v_after text;
  v_jobs json;
  v_kind text;
begin
  if verb not in ('approve', 'reject', 'revoke') then
    raise exception 'a release is approved, rejected or revoked' using errcode = 'FF002';
  elsif verb <> 'approve' and coalesce(btrim(reason), '') = '' then
    raise exception 'to % a release takes a reason', verb using errcode = 'FF002', hint = 'give a reason';
  elsif coalesce(clearance, 'restricted') not in ('uncleared', 'restricted', 'public') then
    raise exception 'clearance is uncleared, restricted or public' using errcode = 'FF002';
  end if;
  select * into v_request from platform.requests r where r.tenant_id = v_tenant and r.request_id = v_release.request_id for no key update;
  select * into v_release from platform.releases l where l.tenant_id = v_tenant and l.release_id = v_release.release_id for update;
  if v_release.request_id <> v_request.request_id then
    raise exception 'the release is just being overwritten' using errcode = 'FF006', hint = 'look at it again';
  end if;
  v_after := platform.approval_after(v_release.approval, verb);
  if v_after is null then
    raise exception 'version % of %/% is %: it cannot be %', v_release.version_id, left(v_release.dataset_id, 80), left(v_release.resource_id, 80),
        v_release.approval, case verb when 'approve' then 'approved' when 'reject' then 'rejected' else 'revoked' end
      using errcode = 'FF006', hint = case
        when v_release.approval = 'approved' then 'it may be revoked'
        when v_release.approval in ('rejected', 'revoked') then 'submit it again with mode "force": then it waits for a review'
        else 'it may be approved or rejected' end;
  end if;
  v_gate := exists (
    select from platform.request_jobs j where j.tenant_id = v_tenant and j.request_id = v_request.request_id and j.phase = 'waiting_approval');
  if verb = 'approve' and not v_gate and v_request.status not in ('completed', 'partial_success') then
    raise exception 'version % of %/% cannot be approved: its request is %', v_release.version_id, left(v_release.dataset_id, 80),
        left(v_release.resource_id, 80), v_request.status
      using errcode = 'FF006', hint = case when v_request.finished_at is null then 'wait until it asks for an approval' else 'resume it, or submit it again' end,
        detail = app.action('requests.status', request_id => v_request.request_id);
  end if;
  if dry_run then
    return json_build_object('release', platform.release_record(v_release), 'verb', verb, 'after', v_after, 'dry_run', true, 'changed', false,
      'jobs', case when verb = 'revoke' then (
        select coalesce(json_agg(distinct t.job_id), '[]') from platform.published_things(v_tenant, platform.release_jobs(v_release)) t) else '[]' end);
  end if;
  update platform.releases l
     set approval = v_after, reviewer = v_by, reason = left(decide_release.reason, 1000), decided_at = now(), updated_at = now(),
         clearance = case verb when 'approve' then coalesce(decide_release.clearance, 'restricted') else 'uncleared' end
   where l.tenant_id = v_tenant and l.release_id = v_release.release_id
  returning * into v_release;
  v_kind := case verb when 'approve' then 'approved' when 'reject' then 'rejected' else 'revoked' end;
  perform platform.note(v_request, 'release.' || v_kind, reason, jsonb_build_object('release_id', v_release.release_id, 'ordinal', v_release.ordinal,
    'revision', v_release.revision, 'clearance', v_release.clearance), actor);
  if verb = 'revoke' then
    v_jobs := platform.take_down(v_release, reason, v_by);
  end if;
  if v_gate and verb <> 'revoke' then
    -- It tells the receivers too.
    perform platform.decide_gate(v_request.request_id, verb = 'approve', null, reason, v_tenant, actor);
  else
    perform platform.tell_receivers(v_request, 'request.' || v_kind);
  end if;
  return json_build_object('release', platform.release_record(v_release), 'verb', verb, 'after', v_after, 'dry_run', false, 'changed', true,
    'jobs', coalesce(v_jobs, '[]'));
end $$;
grant execute on function platform.decide_release(text, text, text, text, boolean, text, text) to fanfold_api, fanfold_admin;
