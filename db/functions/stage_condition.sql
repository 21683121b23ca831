-- `when` as data: a JSONPath predicate over {parameters, stages: {name: {status, total, completed, failed}}}.
create or replace function app.stage_condition(stage app.stages, job app.jobs)
returns boolean
language sql stable
as $$
  select coalesce(
    jsonb_path_match(
      jsonb_build_object(
        'parameters', job.parameters,
        'stages', (
          select coalesce(jsonb_object_agg(s.name, jsonb_build_object('status', s.status, 'total', coalesce(s.total, 0)) || coalesce(s.summary, '{}')), '{}')
            from app.stages s
           where s.tenant_id = stage.tenant_id and s.job_id = stage.job_id and s.closed_at is not null)),
      (stage.condition ->> 'path')::jsonpath,
      silent => true),
    false)
$$;
