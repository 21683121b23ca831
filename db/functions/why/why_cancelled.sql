-- A cancelled job: by whom and why, and what stays.
create or replace function app.why_cancelled(job app.jobs)
returns json
language plpgsql stable
as $$
declare
  v_event app.events;
  -- The job it depends on, if that still stands in its way.
  v_other text := (
    select d.depends_on from app.job_dependencies d join app.jobs q on q.tenant_id = d.tenant_id and q.job_id = d.depends_on
     where d.tenant_id = job.tenant_id and d.job_id = job.job_id and d.satisfied_at is null and q.finished_at is not null
     order by q.finished_at, q.job_id limit 1);
begin
  select * into v_event from app.events e
   where e.tenant_id = job.tenant_id and e.job_id = job.job_id and e.kind = 'job.cancelled'
   order by e.event_id desc limit 1;
  return app.verdict('CANCELLED',
    'job ' || left(job.job_id, 12) || ' was cancelled' || coalesce(' by ' || v_event.actor, '') || coalesce(': ' || (job.error ->> 'message'), ''),
    json_build_object('cancelled_by', v_event.actor, 'message', job.error ->> 'message', 'depends_on', job.error ->> 'depends_on', 'usable', app.usable_stages(job)),
    job.finished_at, null, case when v_other is null then 'it goes on when it is resumed; what is done stays'
      else 'it goes on when that job is resumed first, and this one then' end,
    app.action('resume', job_id => coalesce(v_other, job.job_id)));
end $$;
