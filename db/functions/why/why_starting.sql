-- It is due, and a live worker has a free slot: such a worker asks about once a second. When that goes on for half a minute, it is
-- ours to explain.
create or replace function app.why_starting(stage app.stages, queued app.ready, type text, ordinal bigint)
returns json
language plpgsql stable
as $$
declare
  v_since timestamptz;
  v_evidence json;
begin
  -- Due since all of this was so: its time came, its stage opened, a worker was there, nothing was paused.
  select greatest(queued.run_at, stage.opened_at, min(w.started_at), (
      select max(e.at) from app.events e where e.tenant_id = stage.tenant_id and e.job_id = stage.job_id and e.kind = 'job.continued'), (
      select max(e.at)
        from (select * from app.events e where e.tenant_id = stage.tenant_id and e.job_id is null order by e.event_id desc limit 200) e
       where e.kind = 'type.continued' and e.data ->> 'task_type' = type)) into v_since
    from app.serving_workers(stage.tenant_id, type) w;
  v_evidence := json_build_object('task_type', type, 'run_at', queued.run_at, 'workers', (
    select json_agg(app.worker_facts(w, stage.tenant_id)) from (select * from app.serving_workers(stage.tenant_id, type) limit 5) w));
  if v_since > now() - interval '30 seconds' then
    return app.verdict('STARTING', format('%s is due, and a live worker that registers %s has a free slot', app.task_name(stage, ordinal), type),
      v_evidence, v_since, v_since + interval '5 seconds', 'workers ask about once a second', null);
  end if;
  return app.verdict('UNKNOWN', format('%s is due since %s, a live worker that registers %s has a free slot, and it has not been claimed; this should not happen',
      app.task_name(stage, ordinal), app.utc_text(v_since), type),
    v_evidence, v_since, null, null, app.action('doctor'));
end $$;
