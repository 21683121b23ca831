-- No reason that we know of: our bug, with what the janitor's own check says of it. When that finds something, a sweep mends it.
create or replace function app.why_unknown(job app.jobs, stage_id bigint, trouble text)
returns json
language plpgsql stable
as $$
begin
  return app.verdict('UNKNOWN', case
      when trouble is null then 'no row of job ' || left(job.job_id, 12) || ' says why it does not move; this should not happen'
      else 'job ' || left(job.job_id, 12) || ' is in a state that should not happen: '
        || coalesce((select 'stage "' || s.name || '": ' from app.stages s where s.stage_id = why_unknown.stage_id), '') || trouble
    end,
    json_build_object('trouble', trouble, 'stage', (select s.name from app.stages s where s.stage_id = why_unknown.stage_id),
      'janitor', app.janitor_health(), 'stages', (
        select json_agg(app.stage_counts(s) order by s.number) from app.stages s
         where s.tenant_id = job.tenant_id and s.job_id = job.job_id and s.closed_at is null)),
    null, null, case when trouble is not null then 'a sweep mends it' end,
    case when trouble is not null then app.action('sweep') else app.action('verify', job_id => job.job_id) end);
end $$;
