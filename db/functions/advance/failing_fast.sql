-- Returns those of these stages (the caller has locked their ledgers) that fail fast and have more failures than their budget forgives.
create or replace function app.failing_fast(stage_ids bigint[])
returns bigint[]
language plpgsql
as $$
begin
  return array(
    select p.stage_id
      from unnest(stage_ids) u(stage_id)
      cross join lateral (select * from app.stages s where s.stage_id = u.stage_id offset 0) s
      cross join lateral (select * from app.stage_progress p where p.stage_id = u.stage_id offset 0) p
     where s.on_task_failure = 'fail_fast' and p.remaining > 0
       and p.failed > app.stage_allows(p.total, s.budget_count, s.budget_percent));
end $$;
