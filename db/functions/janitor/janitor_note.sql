-- One action of the janitor, as an event: which run did what to whom, and why.
create or replace function app.janitor_note(
  run uuid, tenant text, action text, target text, reason text, job text default null, stage bigint default null, data jsonb default '{}')
returns void
language plpgsql
as $$
begin
  perform app.note(tenant, 'janitor.' || action, job, stage, reason, data || jsonb_build_object('run_id', run, 'target', target));
end $$;
