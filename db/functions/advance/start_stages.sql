-- Stages of which it is known what tasks they have start, all alike: their ledgers, and what of them may run. Where `runnable` is not
-- given the tasks have nothing of their own, and are made here. Stages with nothing to run close at once. The caller holds the jobs' rows.
create or replace function app.start_stages(
  stage_ids bigint[], total bigint, runnable int8multirange default null, skipped bigint default 0, task_bytes integer default 0)
returns void
language plpgsql
as $$
declare
  v_types text[];
begin
  if total > 1 then
    perform app.assert_fan_out(s, start_stages.total) from app.stages s where s.stage_id = any (stage_ids);
  end if;
  with started as (
    update app.stages s
       set status = 'processing', total = start_stages.total, opened_at = coalesce(s.opened_at, now())
     where s.stage_id = any (stage_ids)
    returning s.stage_id, s.tenant_id, s.job_id, s.number, s.task_type, s.priority, s.after <> '{}' and s.epoch = 1 as goes_on
  ),
  tasks as (
    insert into app.tasks (stage_id, ordinal, tenant_id)
    select s.stage_id, o, s.tenant_id from started s, generate_series(0, start_stages.total - 1) o where runnable is null
  ),
  ledgers as (
    insert into app.stage_progress (stage_id, tenant_id, total, skipped, remaining)
    select s.stage_id, s.tenant_id, start_stages.total, start_stages.skipped, start_stages.total - start_stages.skipped from started s
  ),
  queued as (
    insert into app.ready (stage_id, lo, hi, tenant_id, task_type, priority, task_bytes, turn)
    select s.stage_id, lower(r), upper(r), s.tenant_id, s.task_type, s.priority, start_stages.task_bytes,
      -- This statement does not see itself: of stages that start together the lowest number has none beside it.
      app.opening_turn(s.job_id, s.stage_id, start_stages.total - start_stages.skipped, exists (
        select from app.stages o
         where o.tenant_id = s.tenant_id and o.job_id = s.job_id and o.number < s.number
           and (o.status in ('planning', 'processing') or o.stage_id = any (stage_ids))), s.goes_on)
      from started s, unnest(coalesce(runnable, int8multirange(int8range(0, start_stages.total)))) r
     order by s.stage_id, r
  )
  select array_agg(distinct s.task_type) into v_types from started s;
  if total = skipped then
    perform app.close_stages(stage_ids);
  else
    perform app.wake(v_types);
  end if;
end $$;
