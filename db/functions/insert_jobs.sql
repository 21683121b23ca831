-- Inserts the jobs named by content hash and run, their stages, and opens what may open. Returns the ids it really created:
-- a submit that raced with an equal one finds the other's rows in place.
create or replace function app.insert_jobs(
  tenant text, blueprint_hash text, blueprint jsonb, jobs json, new_hashes text[], new_runs integer[])
returns text[]
language plpgsql
as $$
declare
  -- Two hours without an own value: nothing runs for ever because nobody thought of it.
  c_deadline_s constant double precision := 7200;
  v_created text[];
  v_slow text[];
  v_job app.jobs;
begin
  with wanted as (
    select distinct on (n.hash)
      n.hash, n.run, j.parameters, coalesce(j.identity, j.parameters) as identity,
      coalesce(j.priority, 0) as priority, coalesce(j.labels, '{}') as labels, j.correlation_id,
      j.group_id, j.webhooks, j.traceparent,
      case when j.no_deadline is not true then coalesce(j.deadline_s, (blueprint ->> 'deadline_s')::double precision, c_deadline_s) end as deadline_s
    from rows from (json_to_recordset(jobs) as (
        parameters text, identity text, priority smallint, labels jsonb, correlation_id text, deadline_s double precision,
        no_deadline boolean, group_id text, webhooks jsonb, traceparent text))
      with ordinality as j(
        parameters, identity, priority, labels, correlation_id, deadline_s, no_deadline, group_id, webhooks, traceparent, position)
    join unnest(new_hashes, new_runs) as n(hash, run)
      on n.hash = app.content_hash(tenant, blueprint ->> 'type', coalesce(j.identity, j.parameters), null)
    order by n.hash, j.position
  ),
  named as (
    select w.*, app.content_hash(tenant, blueprint ->> 'type', w.identity, w.run) as job_id from wanted w
  ),
  inserted as (
    insert into app.jobs (
      tenant_id, job_id, content_hash, run, job_type, blueprint_hash, priority, parameters, labels, correlation_id, deadline_s, deadline_at,
      group_id, webhooks, traceparent)
    select
      tenant, n.job_id, n.hash, n.run, blueprint ->> 'type', insert_jobs.blueprint_hash, n.priority, n.parameters::jsonb, n.labels,
      n.correlation_id, n.deadline_s, now() + make_interval(secs => n.deadline_s),
      n.group_id, n.webhooks, n.traceparent
    from named n
    order by n.job_id
    on conflict do nothing
    returning job_id
  )
  select array_agg(i.job_id order by i.job_id) into v_created from inserted i;
  if v_created is null then
    return '{}'::text[];
  end if;

  insert into app.stages (
    tenant_id, job_id, number, name, task_type, parallelism, importance, after, of_number, waiting_for, batch, max_parallel,
    timeout_s, max_attempts, budget_count, budget_percent, condition, plan, description, on_task_failure, gate, priority, status, total,
    opened_at)
  select
    tenant, j.job_id, d.number, d.name, d.task_type, d.parallelism, d.importance, d.after, d.of_number, cardinality(d.after),
    d.batch, d.max_parallel, d.timeout_s, d.max_attempts, d.budget_count, d.budget_percent, d.condition, d.plan,
    d.description, d.on_task_failure, d.gate, j.priority,
    case when d.starts then 'processing' else 'waiting' end::app.stage_status, case when d.starts then 1 end, case when d.starts then now() end
  from unnest(v_created) c
  cross join lateral (select q.job_id, q.priority from app.jobs q where q.tenant_id = tenant and q.job_id = c offset 0) j
  cross join (
    -- A first stage that is one plain task starts as it is inserted; start_roots gives it its task.
    select s.*, s.after = '{}' and s.parallelism = 'single' and s.plan is null and s.condition is null and s.gate is null as starts
      from app.stage_definitions(blueprint) s
    offset 0
  ) d
  order by j.job_id, d.number;

  insert into app.events (tenant_id, kind, job_id) select tenant, 'job.submitted', c from unnest(v_created) c;
  v_slow := app.start_roots(tenant, v_created);
  for v_job in
    select j.*
      from unnest(v_slow) c
      cross join lateral (select * from app.jobs q where q.tenant_id = tenant and q.job_id = c offset 0) j
  loop
    perform app.advance_job(v_job);
  end loop;
  return v_created;
end $$;
