-- Submits one request by a recipe that is kept (keep_recipe). request: {tenant?, mode?, dataset_id, resource_id, version_id, files?, parameters?,
-- metadata?, priority?, labels?, correlation_id?, webhooks?, traceparent?, run_at?, actor?, blueprints?: {job type: hash}}. A request that
-- exists is returned and nothing is written for it, unless the mode is resume and it did not end well: then it goes on. With mode force it
-- is made again as the next run. Null when no recipe has that hash.
create or replace function platform.submit_request(recipe_hash text, request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, platform, app, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_tenant constant text := app.acting_tenant(request ->> 'tenant');
  v_asked constant jsonb := request::jsonb;
  v_mode constant text := coalesce(v_asked ->> 'mode', 'reuse');
  v_recipe jsonb;
  v_body bytea;
  v_run integer := 1;
  v_seen integer;
  v_there platform.requests;
  v_new platform.requests;
  v_limits app.limits;
begin
  perform platform.check_submitted(v_asked);
  select r.recipe into v_recipe from platform.recipes r where r.tenant_id = v_tenant and r.recipe_hash = submit_request.recipe_hash;
  if not found then
    return null;
  end if;
  if v_asked ? 'webhooks' then
    perform app.check_webhooks(v_tenant, json_build_array(json_build_object('webhooks', request -> 'webhooks')));
  end if;
  v_body := platform.body_hash(v_recipe ->> 'data_type', v_asked);
  select * into v_there from platform.requests r
   where r.tenant_id = v_tenant and r.dataset_id = v_asked ->> 'dataset_id' and r.resource_id = v_asked ->> 'resource_id'
     and r.version_id = v_asked ->> 'version_id'
   order by r.run desc limit 1;
  if v_mode = 'force' then
    v_seen := coalesce(v_there.run, 0);
    perform app.lock_named(v_tenant || ' request ' || platform.request_hash(
      v_tenant, v_asked ->> 'dataset_id', v_asked ->> 'resource_id', v_asked ->> 'version_id', 0));
    select * into v_there from platform.requests r
     where r.tenant_id = v_tenant and r.dataset_id = v_asked ->> 'dataset_id' and r.resource_id = v_asked ->> 'resource_id'
       and r.version_id = v_asked ->> 'version_id'
     order by r.run desc limit 1;
    -- A caller that waited for the lock while another made the next run shares that run.
    if coalesce(v_there.run, 0) = v_seen then
      v_run := v_seen + 1;
      v_there := null;
    end if;
  end if;
  if v_there.request_id is null then
    select * into v_limits from app.limits l where l.tenant_id = v_tenant;
    if v_limits.tenant_id is not null then
      perform app.admit(v_limits, 1, jsonb_array_length(v_recipe -> 'jobs'), octet_length(v_asked::text));
    end if;
    insert into platform.requests (
      tenant_id, request_id, dataset_id, resource_id, version_id, run, data_type, recipe_hash, files, parameters, metadata, body_hash, priority,
      labels, correlation_id, webhooks, traceparent, run_at, created_by)
    values (
      v_tenant, platform.request_hash(v_tenant, v_asked ->> 'dataset_id', v_asked ->> 'resource_id', v_asked ->> 'version_id', v_run),
      v_asked ->> 'dataset_id', v_asked ->> 'resource_id', v_asked ->> 'version_id', v_run, v_recipe ->> 'data_type', submit_request.recipe_hash,
      coalesce(nullif(v_asked -> 'files', 'null'), '[]'), coalesce(nullif(v_asked -> 'parameters', 'null'), '{}'),
      coalesce(nullif(v_asked -> 'metadata', 'null'), '{}'), v_body, coalesce((v_asked ->> 'priority')::smallint, 0),
      coalesce(nullif(v_asked -> 'labels', 'null'), '{}'), v_asked ->> 'correlation_id', nullif(v_asked -> 'webhooks', 'null'),
      v_asked ->> 'traceparent', (v_asked ->> 'run_at')::timestamptz, coalesce(left(v_asked ->> 'actor', 200), session_user))
    on conflict do nothing
    returning * into v_new;
    if v_new.request_id is not null then
      perform platform.insert_jobs(v_new, v_recipe, v_asked);
      perform platform.request_submitted(v_new, v_asked);
      perform platform.advance(v_tenant, v_new.request_id);
      if v_limits.tenant_id is not null then
        perform app.admit_jobs(v_limits, 1, array(
          select j.job_id from app.jobs j where j.tenant_id = v_tenant and j.request_id = v_new.request_id));
      end if;
      return platform.submitted_record(v_tenant, v_new.request_id, true, false);
    end if;
    select * into v_there from platform.requests r
     where r.tenant_id = v_tenant and r.dataset_id = v_asked ->> 'dataset_id' and r.resource_id = v_asked ->> 'resource_id'
       and r.version_id = v_asked ->> 'version_id'
     order by r.run desc limit 1;
  end if;
  if v_there.body_hash <> v_body then
    raise exception 'dataset "%", resource "%", version "%" is request % already, with other files or parameters',
        left(v_there.dataset_id, 80), left(v_there.resource_id, 80), v_there.version_id, v_there.request_id
      using errcode = 'FF006', hint = 'submit it with mode "force" to process it again as its next run, or give it another version_id',
        detail = app.action('requests.status', request_id => v_there.request_id);
  end if;
  if v_mode = 'resume' and v_there.status in ('failed', 'cancelled', 'partial_success') then
    begin
      perform platform.resume(v_there, 'submitted again with mode resume', v_asked ->> 'actor');
      return platform.submitted_record(v_tenant, v_there.request_id, false, true);
    exception
      -- Another resumed it at this very moment: it is under way, which is what was asked for.
      when sqlstate 'FF003' or sqlstate 'FF006' then null;
    end;
  end if;
  return platform.submitted_record(v_tenant, v_there.request_id, false, false);
end $$;
grant execute on function platform.submit_request(text, json) to fanfold_api, fanfold_admin;
