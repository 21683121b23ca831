-- What submitting this one job would do, told without doing it: everything that would refuse it refuses here too, with the same
-- words, and nothing is written, locked or charged. request: as of submit_jobs, with one job. Reply: {would: create | reuse | resume,
-- job_id, run, status?, …, waits_for, deadline_s, stages}; of each stage how many tasks it would have, as far as its plan tells.
create or replace function app.dry_submit(blueprint jsonb, request json)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_mode text := coalesce(request ->> 'mode', 'reuse');
  v_type text := blueprint ->> 'type';
  v_job json := request -> 'jobs' -> 0;
  v_content text := coalesce(v_job ->> 'identity', v_job ->> 'parameters');
  v_hash text;
  v_there app.jobs;
  v_would text;
  v_run integer;
  v_limits app.limits;
  v_group app.job_groups;
  v_stages jsonb;
  v_waits_for bigint;
begin
  if v_mode not in ('reuse', 'force', 'resume') then
    raise exception 'mode "%" is unknown', left(v_mode, 40) using errcode = 'FF002', hint = 'use reuse, resume or force';
  end if;
  if json_typeof(request -> 'jobs') is distinct from 'array' or json_array_length(request -> 'jobs') <> 1 then
    raise exception 'a dry run is of one job' using errcode = 'FF002', hint = 'send one job at a time';
  end if;
  perform app.check_submitted(request -> 'jobs');
  perform app.refuse_problems('the submit', app.webhook_problems(v_tenant, request -> 'jobs'));
  perform app.refuse_problems('the blueprint', app.blueprint_problems(blueprint));
  perform app.check_stage_options(blueprint, request -> 'jobs');
  v_hash := app.content_hash(v_tenant, v_type, v_content, null);
  select * into v_there from app.jobs j where j.tenant_id = v_tenant and j.content_hash = v_hash order by j.run desc limit 1;
  v_would := case
    when v_there.job_id is null or v_mode = 'force' then 'create'
    when v_mode = 'resume' and v_there.status in ('failed', 'cancelled', 'partial_success') then 'resume'
    else 'reuse' end;
  v_run := case when v_would = 'create' then coalesce(v_there.run, 0) + 1 else v_there.run end;

  if v_would = 'create' then
    perform app.refuse_problems('the submit', app.dependency_problems(v_tenant, v_type, request -> 'jobs', array[v_hash]));
    select * into v_group from app.job_groups g where g.tenant_id = v_tenant and g.group_id = v_job ->> 'group_id';
    if v_group.sealed_at is not null then
      raise exception 'group "%" is sealed: no job can be added to it', v_group.group_id
        using errcode = 'FF006', hint = 'use another group; look at this one', detail = app.action('groups.get', group_id => v_group.group_id);
    end if;
    if v_group.expected is not null then
      perform app.assert_room(v_group, 1);
    end if;
    v_stages := app.foreseen_stages(v_tenant, blueprint, (v_job ->> 'parameters')::jsonb);
  end if;

  select * into v_limits from app.limits l where l.tenant_id = v_tenant;
  if v_limits.tenant_id is not null then
    perform app.admit(v_limits, 1, case when v_would = 'create' then 1 else 0 end, octet_length(v_job ->> 'parameters'));
    perform app.admit_foreseen(v_limits, v_stages);
  end if;

  select count(*) into v_waits_for
    from (select distinct e.value from json_array_elements_text(coalesce(nullif(v_job ->> 'depends_on', ''), '[]')::json) e) d
    cross join lateral (select * from app.jobs q where q.tenant_id = v_tenant and q.job_id = d.value offset 0) q
   where not app.is_satisfied(
     case when v_job ->> 'on_dependency_failure' = 'run' then 'end' else coalesce(v_job ->> 'require', 'success') end, q.status);
  return json_build_object(
    'would', v_would, 'job_type', v_type, 'run', v_run,
    'job_id', case when v_would = 'create' then app.content_hash(v_tenant, v_type, v_content, v_run) else v_there.job_id end,
    -- The newest run with this content, also where one more is forced.
    'exists', case when v_there.job_id is not null then json_build_object('job_id', v_there.job_id, 'run', v_there.run,
      'status', v_there.status, 'created_at', v_there.created_at, 'finished_at', v_there.finished_at) end,
    'run_at', case when v_would = 'create' then (v_job ->> 'run_at')::timestamptz else v_there.run_at end,
    'waits_for', case when v_would = 'create' then v_waits_for else v_there.waits_for end,
    'deadline_s', case
      when v_would <> 'create' then v_there.deadline_s
      when (v_job ->> 'no_deadline')::boolean is not true then
        coalesce((v_job ->> 'deadline_s')::double precision, app.usual_deadline_s(blueprint)) end,
    'deadline_from', case when v_would <> 'create' then v_there.deadline_from else coalesce(v_job ->> 'deadline_from', 'start') end,
    'stages', coalesce(v_stages, '[]'));
end $$;
grant execute on function app.dry_submit(jsonb, json) to fanfold_api, fanfold_admin;
