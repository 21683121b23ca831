-- What a subscriber is sent of a job: results when it ended well, else how it is.
create or replace function app.subscriber_payload(job app.jobs, subscriber jsonb)
returns text
language plpgsql stable
as $$
declare
  v_last app.stages;
  v_result jsonb;
  v_there boolean := false;
begin
  if job.status not in ('completed', 'partial_success') then
    return app.subscriber_status(subscriber, job.job_id, job.job_type, job.status::text,
      coalesce(job.error ->> 'message', job.error ->> 'code', case when job.finished_at is null then 'It is taken' end),
      job.created_at, job.started_at, job.finished_at)::text;
  end if;
  select s.* into v_last from app.stages s where s.tenant_id = job.tenant_id and s.job_id = job.job_id order by s.number desc limit 1;
  if v_last.total = 1 then
    select r.result, r.spill is null into v_result, v_there
      from app.results r where r.stage_id = v_last.stage_id and r.ordinal = 0 and r.status = 'completed';
  end if;
  return app.subscriber_results(subscriber, job.job_id, v_result, coalesce(v_there, false))::text;
end $$;
