-- A job that failed, or succeeded in part: the first stage that did not end well, by what rule, and what is usable already.
create or replace function app.why_failed(job app.jobs)
returns json
language plpgsql stable
as $$
declare
  v_stage app.stages;
  v_ledger app.stage_progress;
  v_error jsonb;
  v_allowed bigint;
begin
  select * into v_stage from app.stages s
   where s.tenant_id = job.tenant_id and s.job_id = job.job_id and s.status in ('failed', 'partial_success')
   order by s.status <> 'failed', s.importance, s.number
   limit 1;
  select * into v_ledger from app.stage_progress p where p.stage_id = v_stage.stage_id;
  v_error := coalesce(v_stage.error, (
    select r.error || jsonb_build_object('task_id', r.stage_id || '-' || r.ordinal)
      from app.results r where r.stage_id = v_stage.stage_id and r.status = 'failed' order by r.ordinal limit 1), job.error);
  v_allowed := app.stage_allows(v_ledger.total, v_stage.budget_count, v_stage.budget_percent);
  return app.verdict(case when v_error ->> 'while' = 'planning' and v_error ->> 'code' in ('too_large', 'plan_too_large') then 'PAYLOAD_TOO_LARGE' else 'UPSTREAM_FAILED' end,
    format('stage "%s" (%s) ', v_stage.name, v_stage.importance) || case
        when v_error ->> 'while' = 'planning' then 'could not be planned'
        when v_ledger.failed > 0 then format('has %s of %s tasks failed, and its budget forgives %s', v_ledger.failed, v_ledger.total, v_allowed)
        else 'failed'
      end || coalesce(': ' || (v_error ->> 'message'), ''),
    json_build_object('stage', v_stage.name, 'status', v_stage.status, 'importance', v_stage.importance,
      'on_task_failure', nullif(v_stage.on_task_failure, 'finish_stage'), 'failed', v_ledger.failed, 'total', v_ledger.total, 'allowed', v_allowed,
      'error', v_error, 'skipped_stages', (
        select json_agg(s.name order by s.number) from app.stages s
         where s.tenant_id = job.tenant_id and s.job_id = job.job_id and (s.status = 'cancelled' or s.skip_reason = 'upstream')),
      'usable', app.usable_stages(job), 'deliverables', app.job_deliverables(job)),
    coalesce(v_stage.closed_at, job.finished_at), null, 'it does not go on by itself; a resumed job runs again only what did not end well, and what follows',
    app.action('resume', job_id => job.job_id));
end $$;
