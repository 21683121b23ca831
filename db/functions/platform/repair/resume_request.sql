-- Goes on with a request that failed, was cancelled or ended in part, under its id: what completed stays.
create or replace function platform.resume_request(
  request_id text, reason text default null, tenant text default null, actor text default null)
returns json
language plpgsql security definer
set search_path = pg_catalog, platform, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_request platform.requests := platform.find_request(app.acting_tenant(tenant), resume_request.request_id);
begin
  perform platform.resume(v_request, reason, actor);
  return platform.submitted_record(v_request.tenant_id, v_request.request_id, false, true);
end $$;
grant execute on function platform.resume_request(text, text, text, text) to fanfold_api, fanfold_admin;
