-- Appends one event. `actor` is who asked, when that is not the login role itself: a person behind the server.
create or replace function app.note(
  tenant text, kind text, job text, stage bigint default null, reason text default null, data jsonb default null, actor text default null)
returns void
language plpgsql
as $$
begin
  insert into app.events (tenant_id, kind, actor, job_id, stage_id, reason, data, audit)
  values (tenant, kind, coalesce(left(note.actor, 200), session_user), job, stage, left(reason, 2000), data, app.is_audit_kind(kind));
end $$;
