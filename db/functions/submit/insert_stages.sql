-- The stages of new jobs of one blueprint. First stages that are plain, up to one that takes more than that, are inserted as start_stages
-- would leave them, without a second write to each. Returns the jobs that have such a one, for advance_jobs. `offset 0`: job by job, by
-- key. Planned while tables were small, a join may read every job the tenant has.
create or replace function app.insert_stages(tenant text, job_ids text[], hash text)
returns text[]
language plpgsql
as $$
declare
  v_slow text[];
  v_types text[];
  v_made bigint;
begin
  for v_try in 1 .. 2 loop
    with made as (
      insert into app.stages (
        tenant_id, job_id, number, name, task_type, parallelism, importance, after, of_number, waiting_for, batch, max_parallel,
        timeout_s, max_attempts, retry, budget_count, budget_percent, condition, plan, description, on_task_failure, gate, priority, status, total,
        opened_at)
      select
        tenant, j.job_id, d.number, d.name, d.task_type, d.parallelism, d.importance, d.after, d.of_number, cardinality(d.after),
        d.batch, coalesce((o.said ->> 'max_parallel')::numeric::integer, d.max_parallel), d.timeout_s,
        coalesce((o.said ->> 'max_attempts')::numeric, (o.said #>> '{retry,attempts}')::numeric, (j.retry ->> 'attempts')::numeric, d.max_attempts)::smallint,
        case
          when j.retry is null and o.said is null then d.retry
          else nullif(coalesce(d.retry, '{}') || coalesce(j.retry - 'attempts', '{}') || coalesce(o.said -> 'retry', '{}') - 'attempts', '{}') end,
        case when o.said ? 'failure_budget' then (o.said #>> '{failure_budget,count}')::numeric::bigint else d.budget_count end,
        case when o.said ? 'failure_budget' then (o.said #>> '{failure_budget,percent}')::numeric else d.budget_percent end, d.condition, d.plan,
        d.description, d.on_task_failure, d.gate, j.priority,
        case when d.starts and j.waits_for = 0 then 'processing' else 'waiting' end::app.stage_status,
        case when d.starts and j.waits_for = 0 then 1 end, case when d.starts and j.waits_for = 0 then now() end
      from unnest(job_ids) c
      cross join lateral (select q.job_id, q.priority, q.waits_for, q.retry, q.stage_options from app.jobs q where q.tenant_id = tenant and q.job_id = c offset 0) j
      cross join lateral (
        select * from app.blueprint_stages s where s.tenant_id = tenant and s.blueprint_hash = hash offset 0) d
      cross join lateral (select j.stage_options -> d.name as said) o
      order by j.job_id, d.number
      returning stage_id, job_id, number, task_type, priority, status, waiting_for
    ),
    started as (select * from made m where m.status = 'processing'),
    tasks as (
      insert into app.tasks (stage_id, ordinal, tenant_id) select s.stage_id, 0, tenant from started s
    ),
    ledgers as (
      insert into app.stage_progress (stage_id, tenant_id, total, remaining) select s.stage_id, tenant, 1, 1 from started s
    ),
    queued as (
      insert into app.ready (stage_id, lo, hi, tenant_id, task_type, priority, turn)
      select s.stage_id, 0, 1, tenant, s.task_type, s.priority, app.opening_turn(s.job_id, s.stage_id, 1, s.number > 1, false) from started s
    )
    select array_agg(distinct m.job_id) filter (where m.status = 'waiting' and m.waiting_for = 0),
      array_agg(distinct m.task_type) filter (where m.status = 'processing'), count(*)
      into v_slow, v_types, v_made
      from made m;
    exit when v_made > 0 or v_try = 2;
    -- An older version kept the blueprint.
    perform app.keep_stages(tenant, hash);
  end loop;
  perform app.wake(v_types);
  return v_slow;
end $$;
