-- Why an open job does not move: what keeps back the most advanced of its open stages that does not. Where tasks finish or run as
-- usual nothing is wrong, and the answer is RUNNING; but a state that cannot be is told even then.
create or replace function app.why_job(job app.jobs)
returns json
language plpgsql stable
as $$
declare
  v_stage app.stages;
  v_verdict json;
  v_running json;
  v_trouble record;
begin
  if job.paused_at is not null then
    return app.why_job_paused(job);
  end if;
  -- Where it waits for others too, what they are about is told: the clock needs nobody.
  if job.starts_at is not null and job.waits_for = 1 then
    return app.why_not_yet(job);
  end if;
  if job.waits_for > 0 then
    return app.why_dependency(job);
  end if;
  for v_stage in
    select * from app.stages s
     where s.tenant_id = job.tenant_id and s.job_id = job.job_id and s.status in ('waiting_approval', 'planning', 'processing')
     order by s.number desc
  loop
    v_verdict := app.why_stage(v_stage);
    if v_verdict ->> 'code' = 'RUNNING' then
      v_running := v_verdict;
    elsif v_verdict is not null then
      return v_verdict;
    end if;
  end loop;
  v_trouble := app.job_trouble(job.tenant_id, job.job_id);
  if v_trouble.trouble is not null or v_running is null then
    return app.why_unknown(job, v_trouble.stage_id, v_trouble.trouble);
  end if;
  return app.verdict('RUNNING', v_running ->> 'reason', (
      select json_build_object('deadline_at', app.deadline_of(job),
          'stages', json_agg(app.stage_counts(s) order by s.number) filter (where s.status <> 'waiting'),
          'waiting', json_agg(s.name order by s.number) filter (where s.status = 'waiting'),
          'slowest', v_running -> 'evidence' -> 'slowest', 'last_finished_at', v_running -> 'evidence' -> 'last_finished_at')
        from app.stages s
       where s.tenant_id = job.tenant_id and s.job_id = job.job_id and s.closed_at is null),
    job.started_at, null, 'it is under way', null);
end $$;
