-- Opens whatever of a job may open now, and ends the job when nothing is left open: then true, and the caller tells what follows from
-- that (jobs_ended). A job that waits for others opens nothing. The caller holds the job's row.
create or replace function app.open_or_end(job app.jobs)
returns boolean
language plpgsql
as $$
declare
  v_stage app.stages;
  v_outcome app.job_status;
begin
  if job.finished_at is not null or job.waits_for > 0 then
    return false;
  end if;
  loop
    select * into v_stage
      from app.stages s
     where s.tenant_id = job.tenant_id and s.job_id = job.job_id and s.status = 'waiting' and s.waiting_for = 0
     order by s.number
     limit 1;
    exit when not found;
    perform app.open_stage(v_stage, job);
  end loop;
  select case when bool_and(s.closed_at is not null) then app.job_outcome(array_agg(s.status), array_agg(s.importance)) end
    into v_outcome
    from app.stages s
   where s.tenant_id = job.tenant_id and s.job_id = job.job_id;
  if v_outcome is not null then
    update app.jobs
       set status = v_outcome,
           started_at = coalesce(started_at, now()),
           finished_at = now(),
           paused_at = null, paused_by = null, pause_reason = null,
           error = case when v_outcome <> 'completed' then (
             select jsonb_build_object('stage', s.name, 'message', coalesce(s.error ->> 'message',
                 (s.summary ->> 'failed') || ' of ' || s.total || ' tasks failed; the first: ' || (
                   select r.error ->> 'message' from app.results r
                    where r.stage_id = s.stage_id and r.status = 'failed' order by r.ordinal limit 1))) || coalesce(s.error, '{}')
               from app.stages s
              where s.tenant_id = job.tenant_id and s.job_id = job.job_id and s.status = 'failed'
              order by s.importance, s.number
              limit 1) end
     where tenant_id = job.tenant_id and job_id = job.job_id;
    perform app.note(job.tenant_id, 'job.' || v_outcome, job.job_id);
  end if;
  return v_outcome is not null;
end $$;
