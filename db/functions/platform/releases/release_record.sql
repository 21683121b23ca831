-- A release as its tenant is told of it.
create or replace function platform.release_record(release platform.releases)
returns json
language plpgsql stable
as $$
declare
  v_latest platform.releases := platform.latest_release(release.tenant_id, release.dataset_id, release.resource_id);
begin
  return (
    select json_build_object(
        'release_id', release.release_id, 'dataset_id', release.dataset_id, 'resource_id', release.resource_id, 'version_id', release.version_id,
        'ordinal', release.ordinal, 'revision', release.revision, 'data_type', release.data_type, 'request_id', release.request_id,
        'status', q.status, 'wants_approval', release.wants_approval, 'approval', release.approval, 'clearance', release.clearance,
        'reviewer', release.reviewer, 'reason', release.reason, 'decided_at', release.decided_at, 'latest', coalesce(v_latest.release_id = release.release_id, false),
        'created_by', release.created_by, 'created_at', release.created_at, 'updated_at', release.updated_at)
      from platform.requests q
     where q.tenant_id = release.tenant_id and q.request_id = release.request_id);
end $$;
