-- Appends an event of a request.
create or replace function platform.note(request platform.requests, kind text, reason text default null, data jsonb default null, actor text default null)
returns void
language sql
as $$
  insert into app.events (tenant_id, kind, actor, request_id, reason, data, audit)
  values (request.tenant_id, kind, coalesce(left(actor, 200), session_user), request.request_id, left(reason, 2000),
    jsonb_build_object('request_id', request.request_id, 'dataset_id', request.dataset_id, 'resource_id', request.resource_id,
      'version_id', request.version_id) || coalesce(data, '{}'), app.is_audit_kind(kind))
$$;
