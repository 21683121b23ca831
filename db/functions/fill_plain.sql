-- The one task of each of these stages, its ledger, and its place in ready.
create or replace function app.fill_plain(stage_ids bigint[])
returns void
language plpgsql
as $$
begin
  if stage_ids is null then
    return;
  end if;
  insert into app.tasks (stage_id, ordinal, tenant_id) select s.stage_id, 0, s.tenant_id from app.stages s where s.stage_id = any (stage_ids);
  insert into app.stage_progress (stage_id, tenant_id, total, remaining)
  select s.stage_id, s.tenant_id, 1, 1 from app.stages s where s.stage_id = any (stage_ids);
  insert into app.ready (stage_id, lo, hi, tenant_id, task_type, priority)
  select s.stage_id, 0, 1, s.tenant_id, s.task_type, s.priority
    from app.stages s
   where s.stage_id = any (stage_ids)
   order by s.stage_id;
  perform app.wake(array(select distinct s.task_type from app.stages s where s.stage_id = any (stage_ids)));
end $$;
