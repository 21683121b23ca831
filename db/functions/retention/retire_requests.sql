-- The next request of a tenant that has ended and that no rule keeps any longer, oldest first, with its jobs. What a release was made by stays as
-- long as the release.
create or replace function app.retire_requests(tenant text, cursor jsonb)
returns jsonb
language plpgsql
set enable_seqscan = off
as $$
declare
  v_until constant timestamptz := app.youngest_to_go(tenant, 'requests');
  v_request platform.requests;
  v_jobs text[];
  v_next jsonb;
  v_engine text[];
begin
  select * into v_request from platform.requests r
   where r.tenant_id = tenant and r.created_at < v_until
     and (cursor is null or (r.created_at, r.request_id) > ((cursor ->> 0)::timestamptz, cursor ->> 1))
     and r.finished_at < now() - make_interval(secs => (app.retention_rule(tenant, 'requests', '', r.status)).keep_s)
     and not exists (select from platform.releases e where e.tenant_id = tenant and e.request_id = r.request_id)
   order by r.created_at, r.request_id
   limit 1;
  if not found then
    return jsonb_build_object('removed', 0, 'next', null);
  end if;
  v_next := jsonb_build_array(v_request.created_at, v_request.request_id);
  perform app.lock_named(tenant || ' request ' || v_request.request_id);
  v_jobs := app.hold_jobs(tenant, array(
    select j.job_id from app.jobs j where j.tenant_id = tenant and j.request_id = v_request.request_id), true);
  perform 1 from platform.requests r where r.tenant_id = tenant and r.request_id = v_request.request_id for update;
  if exists (
      select from platform.requests r
       where r.tenant_id = tenant and r.request_id = v_request.request_id and r.finished_at is distinct from v_request.finished_at)
    or exists (select from platform.releases e where e.tenant_id = tenant and e.request_id = v_request.request_id)
    or exists (
      select from app.jobs j where j.tenant_id = tenant and j.request_id = v_request.request_id and j.job_id <> all (v_jobs))
    or exists (
      select from app.webhook_deliveries w
       where w.tenant_id = tenant and w.request_id = v_request.request_id and w.status = 'pending') then
    -- It goes on, or something alive refers to it.
    return jsonb_build_object('removed', 0, 'next', v_next);
  end if;
  v_engine := array(select r.role_name::text from app.tenant_roles r where r.tenant_id is null) || session_user::text;
  delete from app.webhook_deliveries w where w.tenant_id = tenant and w.request_id = v_request.request_id;
  delete from app.events e where e.tenant_id = tenant and e.request_id = v_request.request_id and not app.is_audited(e, v_engine);
  delete from platform.requests r where r.tenant_id = tenant and r.request_id = v_request.request_id;
  if exists (select from app.job_keepers(tenant, v_jobs)) then
    -- A job that another waits for outlives its request; its own rule takes it later.
    update app.jobs j set request_id = null where j.tenant_id = tenant and j.job_id = any (v_jobs);
  else
    perform app.remove_jobs(tenant, v_jobs);
  end if;
  return jsonb_build_object('removed', 1, 'next', v_next);
end $$;
