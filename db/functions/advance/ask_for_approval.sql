-- A gate: the stage waits for a person, and the job's deadline waits with it. The caller holds the job's row.
create or replace function app.ask_for_approval(stage app.stages, job app.jobs)
returns void
language plpgsql
as $$
begin
  update app.stages set status = 'waiting_approval', opened_at = now() where stage_id = stage.stage_id;
  perform app.stop_clock(job);
  perform app.note(stage.tenant_id, 'stage.waiting_approval', stage.job_id, stage.stage_id, stage.gate ->> 'message',
    jsonb_build_object('stage', stage.name));
end $$;
