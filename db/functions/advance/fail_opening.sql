-- A stage that cannot be opened as it was declared fails, and says why. The caller holds the job's row and calls advance_jobs.
create or replace function app.fail_opening(stage app.stages, code text, message text)
returns void
language plpgsql
as $$
begin
  update app.stages set error = jsonb_build_object('code', code, 'message', message) where stage_id = stage.stage_id;
  perform app.close_stages(array[stage.stage_id], 'failed');
end $$;
