-- Who took what out of a catalogue, with which job: recorded in the transaction that does so.
create or replace function app.note_removal(job text, reason text, data jsonb, tenant text default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_job app.jobs := app.find_job(v_tenant, job);
begin
  perform app.note(v_tenant, 'items.removed', v_job.job_id, null, note_removal.reason, note_removal.data);
end $$;
grant execute on function app.note_removal(text, text, jsonb, text) to fanfold_worker, fanfold_admin;
