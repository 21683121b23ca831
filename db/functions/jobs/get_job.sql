-- Everything a person or a program asks of one job: its stages with their ledgers, what is running and waiting, its result.
create or replace function app.get_job(job_id text, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), get_job.job_id);
  v_resumable boolean := v_job.status in ('failed', 'cancelled', 'partial_success');
  -- What an open job needs from a person, if anything.
  v_next text := case
    when v_job.finished_at is not null then null
    when v_job.paused_at is not null then 'continue'
    when v_job.waits_for > 0 then 'why'
    when exists (
      select from app.stages s
       where s.tenant_id = v_job.tenant_id and s.job_id = v_job.job_id and s.status = 'waiting_approval') then 'approve'
  end;
begin
  return (
    select json_build_object(
      'job_id', v_job.job_id, 'job_type', v_job.job_type, 'tenant_id', v_job.tenant_id, 'run', v_job.run, 'status', v_job.status,
      'priority', v_job.priority, 'parameters', v_job.parameters, 'labels', v_job.labels, 'metadata', v_job.metadata, 'correlation_id', v_job.correlation_id,
      'group_id', v_job.group_id, 'waits_for', v_job.waits_for, 'run_at', v_job.run_at, 'depends_on', app.dependencies_of(v_job),
      'created_at', v_job.created_at, 'started_at', v_job.started_at, 'finished_at', v_job.finished_at, 'updated_at', app.job_updated_at(v_job), 'deadline_at', app.deadline_of(v_job),
      'deadline_s', v_job.deadline_s, 'deadline_from', v_job.deadline_from, 'deadline_left_s', v_job.deadline_left_s,
      'epoch', v_job.epoch, 'resume_count', v_job.resume_count, 'paused_at', v_job.paused_at, 'paused_by', v_job.paused_by,
      'pause_reason', v_job.pause_reason, 'resumable', v_resumable,
      'resume_from_stage', case when v_resumable then (
        select min(s.number) from app.stages s
         where s.tenant_id = v_job.tenant_id and s.job_id = v_job.job_id and s.status in ('failed', 'cancelled', 'partial_success')) end,
      'cancelled_by', case when v_job.status = 'cancelled' then (
        select e.actor from app.events e
         where e.tenant_id = v_job.tenant_id and e.job_id = v_job.job_id and e.kind = 'job.cancelled'
         order by e.event_id desc
         limit 1) end,
      'outcomes', app.stage_outcomes(v_job), 'deliverables', app.job_deliverables(v_job),
      'error', v_job.error, 'hint', case v_next
        when 'continue' then 'it is paused'
        when 'why' then case when v_job.starts_at is not null and v_job.waits_for = 1 then 'it waits for its time' else 'it waits for other jobs' end
        when 'approve' then 'it waits for an approval'
        else app.job_hint(v_job.status)
      end,
      'action', case when v_next is null then app.job_action(v_job.status, v_job.job_id) else app.action(v_next, job_id => v_job.job_id) end,
      'now', now(),
      'result', r.result, 'result_spill', r.spill,
      'stages', (
        select json_agg(app.stage_status_of(s) order by s.number)
          from app.stages s
         where s.tenant_id = v_job.tenant_id and s.job_id = v_job.job_id))
    from (select 1) one
    left join lateral (
      -- The job's result is that of its last stage, when that was one task.
      select f.result, f.spill
        from (
          select s.* from app.stages s
           where s.tenant_id = v_job.tenant_id and s.job_id = v_job.job_id
           order by s.number desc
           limit 1) l
        join app.results f on f.stage_id = l.stage_id and f.ordinal = 0 and f.status = 'completed'
       where l.total = 1) r on true);
end $$;
grant execute on function app.get_job(text, text) to fanfold_api, fanfold_admin;
