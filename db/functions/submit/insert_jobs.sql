-- Inserts the jobs named by content hash and run, their stages, and opens what may open. Returns the ids it really created:
-- a submit that raced with an equal one finds the other's rows in place.
create or replace function app.insert_jobs(
  tenant text, blueprint_hash text, blueprint jsonb, jobs json, new_hashes text[], new_runs integer[])
returns text[]
language plpgsql
as $$
declare
  v_created text[];
  v_slow text[];
  -- Looked for in the text first: jobs that depend on none pay nothing for those that do.
  v_depend boolean := strpos(jobs::text, '"depends_on"') > 0;
begin
  if v_depend then
    perform app.hold_dependencies(tenant, blueprint ->> 'type', jobs, new_hashes);
  end if;
  with wanted as (
    select distinct on (n.hash)
      n.hash, n.run, j.parameters, coalesce(j.identity, j.parameters) as identity,
      coalesce(j.priority, 0) as priority, coalesce(j.labels, '{}') as labels, j.correlation_id,
      j.group_id, j.webhooks, j.metadata, j.traceparent, j.actor, j.depends_on, nullif(jsonb_strip_nulls(j.retry), '{}') as retry,
      nullif(jsonb_strip_nulls(j.stage_options), '{}') as stage_options,
      j.run_at, case when j.run_at > now() then j.run_at end as starts_at,
      case when j.on_dependency_failure = 'run' then 'end' else coalesce(j.require, 'success') end as needs,
      case when j.no_deadline is not true then coalesce(j.deadline_s, app.usual_deadline_s(blueprint)) end as deadline_s,
      coalesce(j.deadline_from, 'start') as deadline_from
    from rows from (json_to_recordset(jobs) as (
        parameters text, identity text, priority smallint, labels jsonb, correlation_id text, deadline_s double precision,
        no_deadline boolean, deadline_from text, group_id text, webhooks jsonb, metadata jsonb, traceparent text, depends_on jsonb, on_dependency_failure text, require text,
        retry jsonb, run_at timestamptz, stage_options jsonb, actor text))
      with ordinality as j(
        parameters, identity, priority, labels, correlation_id, deadline_s, no_deadline, deadline_from, group_id, webhooks, metadata, traceparent, depends_on,
        on_dependency_failure, require, retry, run_at, stage_options, actor, position)
    join unnest(new_hashes, new_runs) as n(hash, run)
      on n.hash = app.content_hash(tenant, blueprint ->> 'type', coalesce(j.identity, j.parameters), null)
    order by n.hash, j.position
  ),
  named as (
    select w.*, app.content_hash(tenant, blueprint ->> 'type', w.identity, w.run) as job_id, case when w.starts_at is null then 0 else 1 end + case when w.depends_on is null then 0 else (
        select count(*)
          from (select distinct e.value from jsonb_array_elements_text(w.depends_on) e) d
          cross join lateral (select * from app.jobs q where q.tenant_id = tenant and q.job_id = d.value offset 0) q
         where not app.is_satisfied(w.needs, q.status)) end as waits_for
      from wanted w
  ),
  inserted as (
    insert into app.jobs (
      tenant_id, job_id, content_hash, run, job_type, blueprint_hash, priority, parameters, labels, correlation_id, deadline_s, deadline_from, deadline_at,
      deadline_left_s, group_id, webhooks, metadata, traceparent, retry, stage_options, waits_for, run_at, starts_at)
    select
      tenant, n.job_id, n.hash, n.run, blueprint ->> 'type', insert_jobs.blueprint_hash, n.priority, n.parameters::jsonb, n.labels,
      n.correlation_id, n.deadline_s, n.deadline_from,
      case when n.waits_for = 0 and n.deadline_from = 'submit' then now() + make_interval(secs => n.deadline_s) end,
      -- It counts from the first claim; of a job that waits for others, when that is not asked for, from its release.
      case when n.waits_for > 0 or n.deadline_from = 'start' then n.deadline_s end, n.group_id, n.webhooks, n.metadata, n.traceparent, n.retry, n.stage_options, n.waits_for, n.run_at, n.starts_at
    from named n
    order by n.job_id
    on conflict do nothing
    returning job_id
  ),
  linked as (
    insert into app.job_dependencies (tenant_id, job_id, depends_on, needs, satisfied_at)
    select tenant, n.job_id, q.job_id, n.needs, case when app.is_satisfied(n.needs, q.status) then now() end
      from named n
      join inserted i on i.job_id = n.job_id
      cross join lateral (select distinct e.value from jsonb_array_elements_text(n.depends_on) e) d
      cross join lateral (select * from app.jobs q where q.tenant_id = tenant and q.job_id = d.value offset 0) q
     where n.depends_on is not null
  ),
  noted as (
    insert into app.events (tenant_id, kind, job_id, actor)
    select tenant, 'job.submitted', i.job_id, coalesce(left(n.actor, 200), session_user)
      from inserted i
      join named n on n.job_id = i.job_id
     order by i.job_id
  )
  select array_agg(i.job_id order by i.job_id) into v_created from inserted i;
  if v_created is null then
    return '{}'::text[];
  end if;
  if strpos(jobs::text, '"group_id"') > 0 then
    perform app.join_groups(tenant, v_created);
  end if;
  v_slow := app.insert_stages(tenant, v_created, blueprint_hash);
  if v_slow is not null then
    perform app.advance_jobs(array_fill(tenant, array[cardinality(v_slow)]), v_slow);
  end if;
  if v_depend then
    perform app.cancel_doomed(tenant, v_created);
  end if;
  return v_created;
end $$;
