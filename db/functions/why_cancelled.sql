-- A cancelled job: by whom and why, and what stays.
create or replace function app.why_cancelled(job app.jobs)
returns json
language plpgsql stable
as $$
declare
  v_event app.events;
begin
  select * into v_event from app.events e
   where e.tenant_id = job.tenant_id and e.job_id = job.job_id and e.kind = 'job.cancelled'
   order by e.event_id desc limit 1;
  return app.verdict('CANCELLED',
    'job ' || left(job.job_id, 12) || ' was cancelled' || coalesce(' by ' || v_event.actor, '') || coalesce(': ' || (job.error ->> 'message'), ''),
    json_build_object('cancelled_by', v_event.actor, 'message', job.error ->> 'message', 'usable', app.usable_stages(job)),
    job.finished_at, null, 'it goes on when it is resumed; what is done stays', 'fanfold resume ' || left(job.job_id, 12));
end $$;
