-- Writes the stages of a blueprint down as rows, once: insert_stages copies them into every job.
create or replace function app.keep_stages(tenant text, hash text)
returns void
language sql
as $$
  insert into app.blueprint_stages (
    tenant_id, blueprint_hash, number, name, task_type, parallelism, importance, after, of_number, batch, max_parallel, timeout_s, max_attempts,
    retry, budget_count, budget_percent, condition, plan, description, on_task_failure, gate, starts)
  select
    b.tenant_id, b.blueprint_hash, d.number, d.name, d.task_type, d.parallelism, d.importance, d.after, d.of_number, d.batch, d.max_parallel,
    d.timeout_s, d.max_attempts, d.retry, d.budget_count, d.budget_percent, d.condition, d.plan, d.description, d.on_task_failure, d.gate,
    d.after = '{}' and bool_and(app.is_plain(d.parallelism, d.batch, d.plan, d.condition, d.gate)) filter (where d.after = '{}')
      over (order by d.number)
    from app.blueprints b
    cross join lateral app.stage_definitions(b.blueprint) d
   where b.tenant_id = tenant and b.blueprint_hash = hash
  on conflict do nothing
$$;
