-- Why one task does not move, by where it is: waiting for its stage, done, held, queued, or in none of these places.
create or replace function app.why_task(stage app.stages, ordinal bigint)
returns json
language plpgsql stable
as $$
declare
  v_job app.jobs;
  v_result app.results;
  v_claim app.claims;
  v_row app.ready;
  v_trouble record;
begin
  select * into v_job from app.jobs j where j.tenant_id = stage.tenant_id and j.job_id = stage.job_id;
  select * into v_result from app.results r where r.stage_id = stage.stage_id and r.ordinal = why_task.ordinal;
  -- A repaired job may have a stage that ran before and waits: what of it is to run again waits with it, whatever it was.
  if stage.status in ('waiting', 'waiting_approval', 'planning') and (v_result.ordinal is null or stage.again @> why_task.ordinal) then
    return case when v_job.paused_at is not null then app.why_job_paused(v_job) else app.why_waiting(stage, ordinal) end;
  elsif v_result.ordinal is not null then
    return app.why_ended_task(stage, v_result, v_job);
  end if;
  select * into v_claim from app.claims k where k.stage_id = stage.stage_id and k.held @> why_task.ordinal limit 1;
  if found then
    return app.why_held(stage, v_claim, ordinal);
  end if;
  select * into v_row from app.ready r
   where r.stage_id = stage.stage_id and r.lo <= why_task.ordinal and r.hi > why_task.ordinal
   order by r.hi limit 1;
  if found then
    return case
      when v_job.paused_at is not null then app.why_job_paused(v_job)
      else coalesce(app.why_type_paused(stage), app.why_queued(stage, v_row, ordinal))
    end;
  elsif stage.closed_at is not null then
    return app.verdict('CANCELLED', format('task %s-%s did not run: its stage "%s" ended %s', stage.stage_id, ordinal, stage.name, stage.status),
      json_build_object('stage', stage.name, 'job_id', stage.job_id, 'job_status', v_job.status, 'message', coalesce(stage.error, v_job.error) ->> 'message'),
      stage.closed_at, null, 'it runs when its job is resumed',
      case when v_job.finished_at is not null then app.action('resume', job_id => stage.job_id) end);
  end if;
  v_trouble := app.job_trouble(stage.tenant_id, stage.job_id);
  return app.verdict('UNKNOWN', format('task %s-%s is neither queued nor held nor done, and its stage is %s; this should not happen', stage.stage_id, ordinal, stage.status),
    json_build_object('stage', stage.name, 'trouble', v_trouble.trouble, 'janitor', app.janitor_health()), null, null, null,
    case when v_trouble.trouble is not null then app.action('sweep') else app.action('verify', job_id => stage.job_id) end);
end $$;
