-- Takes one ordinal out of the ready range that holds it, cutting the range in two. Null when it is not ready.
-- Waits for a claimer at work on the range: called by transactions that hold nothing else.
create or replace function app.take_out_of_ready(stage bigint, task bigint)
returns app.ready
language plpgsql
as $$
declare
  v_row app.ready;
begin
  select * into v_row
    from app.ready r
   where r.stage_id = stage and r.hi > task and r.lo <= task
   order by r.hi
   limit 1
     for update;
  if not found then
    return null;
  end if;
  delete from app.ready where ready_id = v_row.ready_id;
  insert into app.ready (stage_id, lo, hi, tenant_id, task_type, priority, run_at, attempt, crashes, throttles, task_bytes, turn)
  select stage, p.lo, p.hi, v_row.tenant_id, v_row.task_type, v_row.priority, v_row.run_at, v_row.attempt, v_row.crashes, v_row.throttles, v_row.task_bytes, v_row.turn
    from (values (v_row.lo, task), (task + 1, v_row.hi)) as p(lo, hi)
   where p.lo < p.hi;
  return v_row;
end $$;
