-- Appends one event.
create or replace function app.note(
  tenant text, kind text, job text, stage bigint default null, reason text default null, data jsonb default null)
returns void
language plpgsql
as $$
begin
  insert into app.events (tenant_id, kind, job_id, stage_id, reason, data) values (tenant, kind, job, stage, reason, data);
end $$;
