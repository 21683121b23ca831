-- What the condition of a stage is asked about: {parameters, stages: {name: {status, total, completed, failed}}} of those that closed.
create or replace function app.condition_scope(stage app.stages, job app.jobs)
returns jsonb
language sql stable
as $$
  select jsonb_build_object(
    'parameters', job.parameters,
    'stages', case when strpos(stage.condition ->> 'path', 'stages') > 0 then (
      select coalesce(jsonb_object_agg(s.name, jsonb_build_object('status', s.status, 'total', coalesce(s.total, 0)) || coalesce(s.summary, '{}')), '{}')
        from app.stages s
       where s.tenant_id = stage.tenant_id and s.job_id = stage.job_id and s.closed_at is not null) else '{}' end)
$$;
