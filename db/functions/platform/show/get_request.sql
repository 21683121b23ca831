-- Everything that is asked of one request, by any id it goes by: its jobs with their progress, what it made, what went wrong and how to repair it.
create or replace function platform.get_request(request_id text, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, platform, app, pg_temp
as $$
declare
  v_request platform.requests := platform.find_request(app.acting_tenant(tenant), get_request.request_id);
  v_waits constant text := (
    select j.name from platform.request_jobs j
     where j.tenant_id = v_request.tenant_id and j.request_id = v_request.request_id and j.phase = 'waiting_approval' order by j.number limit 1);
  v_resumable constant boolean := v_request.status in ('failed', 'cancelled', 'partial_success');
begin
  return (platform.request_record(v_request)::jsonb || jsonb_build_object(
    'files', v_request.files, 'parameters', v_request.parameters, 'names', platform.names_of(v_request),
    'result_data', v_request.result_data || jsonb_build_object(
      'deliverables', platform.deliverables_of(v_request), 'errors', platform.errors_of(v_request)),
    'resumable', v_resumable, 'waits_for_approval', v_waits, 'now', now(),
    'ask_again_s', case when v_request.finished_at is null then platform.ask_again_s(v_request) end,
    'hint', case
      when v_waits is not null then 'job "' || v_waits || '" waits for an approval'
      when v_resumable then 'resume it: what completed is kept'
      when v_request.finished_at is null then 'it is under way'
      else 'it is complete'
    end,
    'action', case
      when v_waits is not null then app.action('requests.decide', request_id => v_request.request_id)
      when v_resumable then app.action('requests.resubmit', request_id => v_request.request_id)
    end,
    'jobs', platform.jobs_shown(v_request)))::json;
end $$;
grant execute on function platform.get_request(text, text) to fanfold_api, fanfold_admin;
