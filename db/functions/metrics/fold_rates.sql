-- Adds what has ended since the last call to its minutes. Notes are removed by the transaction that adds them, so that each counts
-- exactly once; what was undone in a stage that had closed is a note below zero.
create or replace function app.fold_rates()
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  c_notes constant integer := 50000;
  v_notes integer;
begin
  -- Minutes are everybody's. One at a time, and not beside a look at the queues, which writes the same rows.
  if not app.take_duty('rates') then
    return json_build_object('notes', 0, 'more', false);
  end if;
  with gone as (
    delete from app.rate_notes n
     where n.ctid = any (array(select m.ctid from app.rate_notes m limit c_notes))
    returning n.at, n.stages, n.completed, n.failed
  ),
  by_stage as materialized (
    select d.stage_id, date_trunc('minute', g.at) as minute, sum(d.completed) as completed, sum(d.failed) as failed
      from gone g
      cross join lateral unnest(g.stages, g.completed, g.failed) as d(stage_id, completed, failed)
     group by 1, 2
  ),
  added as (
    insert into app.rate_minutes as m (tenant_id, task_type, minute, completed, failed)
    select s.tenant_id, s.task_type, b.minute, sum(b.completed), sum(b.failed)
      from by_stage b
      cross join lateral (select k.tenant_id, k.task_type from app.stages k where k.stage_id = b.stage_id offset 0) s
     group by 1, 2, 3
    having sum(b.completed) <> 0 or sum(b.failed) <> 0
     order by 1, 2, 3
    on conflict (tenant_id, task_type, minute) do update
      set completed = m.completed + excluded.completed, failed = m.failed + excluded.failed
  )
  select count(*) into v_notes from gone g;
  return json_build_object('notes', v_notes, 'more', v_notes = c_notes);
end $$;
grant execute on function app.fold_rates() to fanfold_worker, fanfold_admin;
