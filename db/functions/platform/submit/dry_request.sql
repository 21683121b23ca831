-- What submit_request would do, told without doing it: {would, request_id, run, exists, names, jobs}. Raises what the submit would.
create or replace function platform.dry_request(recipe jsonb, request json)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, platform, app, pg_temp
as $$
declare
  v_tenant constant text := app.acting_tenant(request ->> 'tenant');
  v_asked constant jsonb := request::jsonb;
  v_mode constant text := coalesce(v_asked ->> 'mode', 'reuse');
  v_there platform.requests;
  v_new platform.requests;
  v_would text;
  v_problems jsonb;
begin
  perform platform.check_submitted(v_asked);
  perform app.refuse_problems('the recipe', platform.recipe_problems(recipe));
  select * into v_there from platform.requests r
   where r.tenant_id = v_tenant and r.dataset_id = v_asked ->> 'dataset_id' and r.resource_id = v_asked ->> 'resource_id'
     and r.version_id = v_asked ->> 'version_id'
   order by r.run desc limit 1;
  v_would := case
    when v_there.request_id is null or v_mode = 'force' then 'create'
    when v_there.body_hash <> platform.body_hash(recipe ->> 'data_type', v_asked) then 'refuse'
    when v_mode = 'resume' and v_there.status in ('failed', 'cancelled', 'partial_success') then 'resume'
    else 'reuse' end;
  v_new.tenant_id := v_tenant;
  v_new.dataset_id := v_asked ->> 'dataset_id';
  v_new.resource_id := v_asked ->> 'resource_id';
  v_new.version_id := v_asked ->> 'version_id';
  v_new.run := case when v_would = 'create' then coalesce(v_there.run, 0) + 1 else v_there.run end;
  v_new.epoch := 1;
  select coalesce(jsonb_agg(jsonb_build_object('path', '$.jobs.' || (j ->> 'name'), 'problem', 'there is no job type "' || (j ->> 'job') || '"',
      'fix', 'workers register theirs when they start, others are saved')), '[]')
    into v_problems
    from jsonb_array_elements(recipe -> 'jobs') j
   where not coalesce(v_asked -> 'blueprints' ? (j ->> 'job'), false)
     and not exists (select from app.registered_blueprints b where b.tenant_id in (v_tenant, '') and b.job_type = j ->> 'job')
     and not exists (select from app.saved_blueprints b where b.tenant_id = v_tenant and b.job_type = j ->> 'job' and b.removed_at is null);
  return json_build_object(
    'would', v_would, 'run', v_new.run, 'data_type', recipe ->> 'data_type',
    'request_id', platform.request_hash(v_tenant, v_new.dataset_id, v_new.resource_id, v_new.version_id, v_new.run),
    'exists', case when v_there.request_id is not null then json_build_object('request_id', v_there.request_id, 'run', v_there.run,
      'status', v_there.status, 'created_at', v_there.created_at) end,
    'names', platform.names_of(v_new), 'problems', v_problems,
    'jobs', (
      select json_agg(json_build_object('name', j ->> 'name', 'job_type', j ->> 'job', 'sequence', coalesce((j ->> 'sequence')::integer, 1),
          'gate', platform.gate_of(recipe, place::integer, platform.wants_approval(recipe, v_asked -> 'parameters'), v_new.version_id) ->> 'message', 'conditional', coalesce(jsonb_typeof(j -> 'when') = 'object', false), 'importance', coalesce(j ->> 'importance', 'critical')))
        from jsonb_array_elements(recipe -> 'jobs') with ordinality as jobs(j, place)));
end $$;
grant execute on function platform.dry_request(jsonb, json) to fanfold_api, fanfold_admin;
