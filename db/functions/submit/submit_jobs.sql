-- Submits jobs of one blueprint. request: {tenant?, mode?, jobs: [{parameters, identity?, priority?, labels?, correlation_id?,
-- deadline_s?, no_deadline?, group_id?, webhooks?, traceparent?, actor?, depends_on?: [job id], on_dependency_failure?: cancel | run, require?:
-- success | completed, run_at?, stage_options?: {stage: {failure_budget?, max_parallel?, max_attempts?, retry?}}}]}; parameters and identity are canonical JSON *text*, because the id is made of the very bytes. A job that
-- exists is returned and nothing is written for it, unless the mode is resume and it did not end well: then it goes on. Rows go in by
-- ascending id, so that two bulk submits of the same jobs wait for each other and never in a circle.
create or replace function app.submit_jobs(blueprint jsonb, request json)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_mode text := coalesce(request ->> 'mode', 'reuse');
  v_type text := blueprint ->> 'type';
  v_blueprint_hash text;
  v_hashes text[];
  v_new_hashes text[];
  v_new_runs integer[];
  v_created text[];
  v_hash text;
  v_seen integer;
  v_last integer;
  v_reply json;
  v_resumed text[] := '{}'::text[];
  v_limits app.limits;
  v_depend boolean := strpos((request -> 'jobs')::text, '"depends_on"') > 0;
begin
  if v_mode not in ('reuse', 'force', 'resume') then
    raise exception 'mode "%" is unknown', left(v_mode, 40) using errcode = 'FF002', hint = 'use reuse, resume or force';
  end if;
  perform app.check_submitted(request -> 'jobs');
  perform app.check_webhooks(v_tenant, request -> 'jobs');
  if v_mode = 'resume' and v_depend and json_array_length(request -> 'jobs') > 1 then
    -- It would hold what they depend on, and wait for the jobs it resumes.
    raise exception 'with mode "resume", jobs that depend on others are submitted one at a time'
      using errcode = 'FF002', hint = 'send one job, or leave depends_on out: a job that exists keeps what it depends on';
  end if;
  v_blueprint_hash := app.save_blueprint(v_tenant, blueprint);
  perform app.check_stage_options(blueprint, request -> 'jobs');
  select array_agg(distinct app.content_hash(v_tenant, v_type, coalesce(j.identity, j.parameters), null))
    into v_hashes
    from json_to_recordset(request -> 'jobs') as j(parameters text, identity text);

  if v_mode <> 'force' then
    select array_agg(h), array_agg(1)
      into v_new_hashes, v_new_runs
      from unnest(v_hashes) h
      -- One by one, by key: a join may be planned over every job the tenant has. The order names the index even to a planner that
      -- has only seen empty tables.
      left join lateral (
        select true as there from app.jobs e where e.tenant_id = v_tenant and e.content_hash = h order by e.run desc limit 1
      ) e on true
     where e.there is null;
  else
    -- A caller that waited for the lock while another made the next run shares that run.
    foreach v_hash in array v_hashes loop
      select coalesce(max(run), 0) into v_seen from app.jobs where tenant_id = v_tenant and content_hash = v_hash;
      perform app.lock_named(v_tenant || ' run ' || v_hash);
      select coalesce(max(run), 0) into v_last from app.jobs where tenant_id = v_tenant and content_hash = v_hash;
      if v_last = v_seen then
        v_new_hashes := v_new_hashes || v_hash;
        v_new_runs := v_new_runs || v_last + 1;
      end if;
    end loop;
  end if;

  select * into v_limits from app.limits l where l.tenant_id = v_tenant;
  if v_limits.tenant_id is not null then
    perform app.admit(v_limits, json_array_length(request -> 'jobs'), coalesce(cardinality(v_new_hashes), 0),
      (select sum(octet_length(j.parameters)) from json_to_recordset(request -> 'jobs') as j(parameters text)));
  end if;

  if v_new_hashes is not null then
    v_created := app.insert_jobs(v_tenant, v_blueprint_hash, blueprint, request -> 'jobs', v_new_hashes, v_new_runs);
    if strpos((request -> 'jobs')::text, '"subscriber"') > 0 then
      perform app.tell_accepted(v_tenant, v_created);
    end if;
  end if;

  -- One that was new a moment ago is under way, whoever submitted it.
  if v_mode = 'resume' and (v_new_hashes is null or not v_depend) then
    v_resumed := app.resume_submitted(v_tenant, v_hashes, v_created);
  end if;
  if v_limits.tenant_id is not null then
    perform app.admit_jobs(v_limits, json_array_length(request -> 'jobs'), coalesce(v_created, '{}'));
  end if;

  select json_agg(
      app.submitted_record(
        e.job_type, e.job_id, e.run, e.status, c.job_id is not null and j.first, e.job_id = any (v_resumed), e.epoch)
      order by j.position)
    into v_reply
    from (
      select r.position, r.hash, row_number() over (partition by r.hash order by r.position) = 1 as first
        from (
          select j.position, app.content_hash(v_tenant, v_type, coalesce(j.identity, j.parameters), null) as hash
            from rows from (json_to_recordset(request -> 'jobs') as (parameters text, identity text)) with ordinality
              as j(parameters, identity, position)
        ) r
    ) j
    cross join lateral (
      select * from app.jobs e where e.tenant_id = v_tenant and e.content_hash = j.hash order by e.run desc limit 1
    ) e
    left join unnest(v_created) as c(job_id) on c.job_id = e.job_id;
  return v_reply;
end $$;
grant execute on function app.submit_jobs(jsonb, json) to fanfold_api, fanfold_admin;
