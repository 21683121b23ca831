-- One queued ordinal: who could run it, whether it is due, whether a limit keeps it, who is before it.
create or replace function app.why_queued(stage app.stages, queued app.ready, ordinal bigint)
returns json
language plpgsql stable
as $$
declare
  v_type text := case when queued.task_type like '#paused:%' then substr(queued.task_type, 9) else queued.task_type end;
  v_verdict json;
begin
  if queued.task_type like '#paused:%' then
    -- Continuing a job takes back what was put aside: left over, it is ours to explain.
    return app.verdict('UNKNOWN', app.task_name(stage, ordinal) || ' is put aside as of a paused job, and its job is not paused; this should not happen',
      json_build_object('stage', stage.name, 'task_type', v_type), null, null, 'a sweep brings it back', app.action('sweep'));
  end if;
  v_verdict := app.why_no_worker(stage, queued, v_type, ordinal);
  if v_verdict is not null then
    return v_verdict;
  end if;
  if queued.run_at > now() then
    return app.why_later(stage, queued, ordinal);
  end if;
  return coalesce(app.why_limited(stage, ordinal), app.why_busy(stage, queued, v_type, ordinal), app.why_starting(stage, queued, v_type, ordinal));
end $$;
