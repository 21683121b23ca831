-- What a receiver is told of a job that ended, as the text that is signed and sent. At most 20 KB: what makes it larger is left
-- out, the heaviest first, and the payload says where to fetch it.
create or replace function app.webhook_payload(job app.jobs, event_type text)
returns text
language plpgsql stable
as $$
declare
  c_limit constant integer := 20480;
  v_where constant text := '/api/jobs/status/' || job.job_id;
  v_last app.stages;
  v_result jsonb;
  v_spill jsonb;
  v_stages json;
  v_omitted json;
  v_payload text;
begin
  select s.* into v_last from app.stages s where s.tenant_id = job.tenant_id and s.job_id = job.job_id order by s.number desc limit 1;
  -- As in the status: a job's result is that of its last stage, when that was one task.
  if v_last.total = 1 then
    select r.result, r.spill into v_result, v_spill
      from app.results r where r.stage_id = v_last.stage_id and r.ordinal = 0 and r.status = 'completed';
  end if;
  if v_spill is not null or pg_column_size(v_result) > c_limit or octet_length(v_result::text) > 16384 then
    v_omitted := json_build_object('bytes', coalesce((v_spill ->> 'bytes')::bigint, octet_length(v_result::text)), 'fetch', v_where);
    v_result := null;
  end if;
  for v_step in 0 .. 3 loop
    -- 0: everything; 1: no result; 2: stages without their errors; 3: no stages, no labels.
    if v_step = 1 then
      if v_result is not null then
        v_omitted := json_build_object('bytes', octet_length(v_result::text), 'fetch', v_where);
        v_result := null;
      end if;
    end if;
    if v_step in (0, 2) then
      select json_object_agg(s.name, json_build_object(
          'number', s.number, 'status', s.status, 'total', coalesce(s.total, 0), 'completed', coalesce(p.completed, 0),
          'failed', coalesce(p.failed, 0), 'skipped', coalesce(p.skipped, 0), 'opened_at', s.opened_at, 'closed_at', s.closed_at,
          'error', case when v_step = 0 and s.status in ('failed', 'partial_success') then app.webhook_error(coalesce(s.error, (
            select r.error from app.results r where r.stage_id = s.stage_id and r.status = 'failed' order by r.ordinal limit 1))) end)
          order by s.number)
        into v_stages
        from app.stages s
        left join app.stage_progress p on p.stage_id = s.stage_id
       where s.tenant_id = job.tenant_id and s.job_id = job.job_id;
    elsif v_step = 3 then
      v_stages := null;
    end if;
    v_payload := json_build_object(
      'type', event_type, 'timestamp', app.webhook_time(job.finished_at),
      'job_id', job.job_id, 'job_type', job.job_type, 'status', job.status,
      'stage_results', v_stages, 'final_results', v_result,
      'data', json_build_object(
        'job_id', job.job_id, 'run', job.run, 'epoch', job.epoch, 'correlation_id', job.correlation_id,
        'labels', case when v_step < 3 then job.labels end,
        'created_at', app.webhook_time(job.created_at), 'started_at', app.webhook_time(job.started_at),
        'finished_at', app.webhook_time(job.finished_at), 'error', app.webhook_error(job.error),
        'resumable', job.status in ('failed', 'cancelled', 'partial_success'),
        'final_results_omitted', v_omitted, 'stage_results_omitted', v_step = 3, 'status_url', v_where))::text;
    exit when octet_length(v_payload) <= c_limit;
  end loop;
  return v_payload;
end $$;
