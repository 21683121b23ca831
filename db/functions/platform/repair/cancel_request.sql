-- Cancels a request: its jobs that have not ended are cancelled, and what waits is never made. What ended stays ended, and says so. A job
-- that opened while the others were waited for is met on the next try: nothing was changed by then.
create or replace function platform.cancel_request(
  request_id text, reason text default null, dry_run boolean default false, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, platform, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_request platform.requests := platform.find_request(app.acting_tenant(tenant), cancel_request.request_id);
  v_error constant jsonb := jsonb_build_object('code', 'cancelled', 'message', coalesce(left(reason, 1000), 'cancelled on request'));
  v_open text[];
  v_job app.jobs;
  v_done boolean := false;
begin
  v_open := platform.open_jobs_of(v_request);
  if dry_run is not true then
    perform app.lock_named(v_request.tenant_id || ' request ' || v_request.request_id);
    for v_try in 1 .. 200 loop
      begin
        v_open := platform.open_jobs_of(v_request);
        perform app.hold_jobs(v_request.tenant_id, v_open, false);
        select * into v_request from platform.requests r
         where r.tenant_id = v_request.tenant_id and r.request_id = v_request.request_id for no key update;
        if not platform.open_jobs_of(v_request) <@ v_open then
          raise exception 'another opened' using errcode = 'FF000';
        end if;
        if v_request.finished_at is null then
          update platform.request_jobs j set phase = 'cancelled', closed_at = now()
           where j.tenant_id = v_request.tenant_id and j.request_id = v_request.request_id
             and j.phase in ('waiting', 'waiting_approval', 'planning');
          perform platform.note(v_request, 'request.cancelling', reason, null, actor);
          for v_job in
            select * from app.jobs q where q.tenant_id = v_request.tenant_id and q.job_id = any (v_open) and q.finished_at is null order by q.job_id
          loop
            perform app.end_job(v_job, 'cancelled', v_error, actor);
          end loop;
          perform platform.advance(v_request.tenant_id, v_request.request_id);
          if v_open <> '{}' then
            -- Running handlers learn of it now rather than with their next heartbeat.
            perform pg_notify('fanfold_ready', '#cancelled');
          end if;
        end if;
        v_done := true;
      exception
        when sqlstate 'FF000' then null;
      end;
      exit when v_done;
    end loop;
    if not v_done then
      raise exception 'the request is too busy' using errcode = '55P03', hint = 'try again';
    end if;
  end if;
  if v_request.finished_at is not null and v_request.status <> 'cancelled' then
    raise exception 'request % is %, which is final', v_request.request_id, v_request.status
      using errcode = 'FF006', hint = 'see how it ended', detail = app.action('requests.status', request_id => v_request.request_id);
  end if;
  return json_build_object('request_id', v_request.request_id, 'status', (
      select r.status from platform.requests r where r.tenant_id = v_request.tenant_id and r.request_id = v_request.request_id),
    'open_jobs', cardinality(v_open), 'dry_run', coalesce(dry_run, false), 'changed', dry_run is not true and v_request.finished_at is null);
end $$;
grant execute on function platform.cancel_request(text, text, boolean, text, text) to fanfold_api, fanfold_admin;
