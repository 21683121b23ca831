-- A gate: a person must say yes before the stage opens.
create or replace function app.why_approval(stage app.stages)
returns json
language plpgsql stable
as $$
begin
  return app.verdict('WAITING_APPROVAL', 'stage "' || stage.name || '" waits for approval' || coalesce(': ' || (stage.gate ->> 'message'), ''),
    json_build_object('stage', stage.name, 'message', stage.gate ->> 'message'), stage.opened_at, null,
    'it opens when somebody approves it; the deadline waits with it',
    app.action('approve', job_id => stage.job_id, stage => case when (
      select count(*) from app.stages s
       where s.tenant_id = stage.tenant_id and s.job_id = stage.job_id and s.status = 'waiting_approval') > 1 then stage.name end));
end $$;
