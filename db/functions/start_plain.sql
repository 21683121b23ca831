-- Starts stages that are one plain task each, set by set: the common case, and 100,000 tiny jobs are made of it.
create or replace function app.start_plain(stage_ids bigint[])
returns void
language plpgsql
as $$
declare
  v_types text[];
begin
  with started as (
    update app.stages set status = 'processing', total = 1, waiting_for = 0, opened_at = now()
     where stage_id = any (stage_ids)
    returning *
  ),
  tasks as (
    insert into app.tasks (stage_id, ordinal, tenant_id) select s.stage_id, 0, s.tenant_id from started s
  ),
  ledgers as (
    insert into app.stage_progress (stage_id, tenant_id, total, remaining) select s.stage_id, s.tenant_id, 1, 1 from started s
  ),
  queued as (
    insert into app.ready (stage_id, lo, hi, tenant_id, task_type, priority, turn)
    select s.stage_id, 0, 1, s.tenant_id, s.task_type, s.priority,
      -- As opening_turn says, which does not see that stages of one job start here together, and need not be asked about a second stage.
      case
        when s.number > min(s.number) over (partition by s.job_id) then app.ring_turn(s.job_id, s.stage_id)
        when s.number = 2 and s.epoch = 1 then 0
        else app.opening_turn((select o from app.stages o where o.stage_id = s.stage_id), 1)
      end
      from started s
     order by s.stage_id
  )
  select array_agg(distinct s.task_type) into v_types from started s;
  perform app.wake(v_types);
end $$;
