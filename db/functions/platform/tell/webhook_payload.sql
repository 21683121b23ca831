-- What a receiver is told of a request, as the text that is signed and sent. At most 20 KB: what makes it larger is left out, and the
-- payload says where to fetch it.
create or replace function platform.webhook_payload(request platform.requests, event_type text)
returns text
language plpgsql stable
as $$
declare
  c_limit constant integer := 20480;
  v_payload text;
begin
  for v_step in 0 .. 2 loop
    -- 0: everything; 1: no outputs; 2: neither jobs nor what the client said of itself.
    v_payload := json_build_object(
      'type', event_type, 'timestamp', app.webhook_time(coalesce(request.finished_at, now())),
      'request_id', request.request_id, 'dataset_id', request.dataset_id, 'resource_id', request.resource_id, 'version_id', request.version_id,
      'status', request.status,
      'data', json_build_object(
        'request_id', request.request_id, 'data_type', request.data_type, 'run', request.run, 'epoch', request.epoch,
        'correlation_id', request.correlation_id, 'metadata', case when v_step < 2 then request.metadata end,
        'labels', case when v_step < 2 then request.labels end,
        'created_at', app.webhook_time(request.created_at), 'finished_at', app.webhook_time(request.finished_at),
        'error', app.webhook_error(request.error), 'counts', request.result_data -> 'counts',
        'outputs', case when v_step = 0 then request.result_data -> 'outputs' end,
        'jobs', case when v_step < 2 then (
          select json_agg(json_build_object('name', j.name, 'job_type', j.job_type, 'sequence', j.sequence, 'job_id', j.job_id,
              'status', platform.status_of(j.phase, q.status)) order by j.number)
            from platform.request_jobs j
            left join app.jobs q on q.tenant_id = j.tenant_id and q.job_id = j.job_id
           where j.tenant_id = request.tenant_id and j.request_id = request.request_id) end,
        'outputs_omitted', v_step > 0, 'status_url', '/api/platform/status/' || request.request_id))::text;
    exit when octet_length(v_payload) <= c_limit;
  end loop;
  return v_payload;
end $$;
