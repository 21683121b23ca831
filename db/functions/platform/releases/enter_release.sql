-- A new request joins its release, or is refused: the submit matrix. The caller made the request's row in this transaction, and nothing of it is
-- open yet.
create or replace function platform.enter_release(request platform.requests, asked jsonb)
returns void
language plpgsql
as $$
declare
  v_wants constant boolean := platform.wants_approval((
    select c.recipe from platform.recipes c where c.tenant_id = request.tenant_id and c.recipe_hash = request.recipe_hash), request.parameters);
  v_there platform.releases;
  v_open platform.releases;
  v_ordinal integer;
begin
  insert into platform.assets (tenant_id, dataset_id, resource_id) values (request.tenant_id, request.dataset_id, request.resource_id) on conflict do nothing;
  -- Versions of one resource come one after the other: two submits must not both find nothing open, or take one ordinal.
  perform 1 from platform.assets a
    where a.tenant_id = request.tenant_id and a.dataset_id = request.dataset_id and a.resource_id = request.resource_id for no key update;
  select * into v_there from platform.releases l
   where l.tenant_id = request.tenant_id and l.dataset_id = request.dataset_id and l.resource_id = request.resource_id and l.version_id = request.version_id;
  if v_wants then
    select l.* into v_open
      from platform.releases l
      join platform.requests q on q.tenant_id = l.tenant_id and q.request_id = l.request_id
     where l.tenant_id = request.tenant_id and l.dataset_id = request.dataset_id and l.resource_id = request.resource_id
       and l.version_id <> request.version_id
       and (q.finished_at is null or l.approval = 'pending_review' and q.status in ('completed', 'partial_success'))
     order by l.ordinal desc
     limit 1;
  end if;
  -- A row was made, so this is no submit of what is there: what is there is made again.
  case platform.submit_decision(v_there.release_id is not null, v_there.approval, v_wants, v_open.release_id is not null, 'force')
    when 'refuse_approved' then
      raise exception 'version % of %/% is approved (by %): it is not overwritten', v_there.version_id, left(v_there.dataset_id, 80), left(v_there.resource_id, 80), v_there.reviewer
        using errcode = 'FF003', hint = 'revoke it first (POST /api/platform/revoke), or submit it as another version';
    when 'refuse_open' then
      raise exception 'version % of %/% is open (%): the next one waits for it', v_open.version_id, left(v_open.dataset_id, 80), left(v_open.resource_id, 80), v_open.approval
        using errcode = 'FF003', hint = 'approve or reject it first, or cancel its request ' || v_open.request_id;
    when 'overwrite' then
      update platform.releases l
         set request_id = request.request_id, revision = l.revision + 1, data_type = request.data_type, wants_approval = v_wants,
             approval = case when v_wants then platform.approval_after(l.approval, 'overwrite') else 'approved' end,
             clearance = 'uncleared', reviewer = null, reason = null, decided_at = null, updated_at = now()
       where l.tenant_id = v_there.tenant_id and l.release_id = v_there.release_id;
      perform platform.note(request, 'release.overwritten', null, jsonb_build_object('release_id', v_there.release_id, 'revision', v_there.revision + 1), asked ->> 'actor');
    else
      select coalesce(max(l.ordinal), 0) + 1 into v_ordinal from platform.releases l
       where l.tenant_id = request.tenant_id and l.dataset_id = request.dataset_id and l.resource_id = request.resource_id;
      insert into platform.releases (
        tenant_id, release_id, dataset_id, resource_id, version_id, ordinal, request_id, data_type, wants_approval, approval, created_by)
      values (
        request.tenant_id, platform.request_hash(request.tenant_id, request.dataset_id, request.resource_id, request.version_id, 0), request.dataset_id,
        request.resource_id, request.version_id, v_ordinal, request.request_id, request.data_type, v_wants,
        case when v_wants then 'pending_review' else 'approved' end, request.created_by);
  end case;
end $$;
