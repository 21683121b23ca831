-- The next piece of what is left of jobs that are gone: at most so many rows of each table, of one stage. Nobody else reads or writes them.
-- Null: there is nothing left.
create or replace function app.remove_rows(most integer)
returns bigint
language plpgsql
set enable_seqscan = off
as $$
declare
  v_stage app.removed_stages;
  v_hi bigint;
  v_gone bigint := 0;
  v_rows bigint;
begin
  select * into v_stage from app.removed_stages s order by s.removed_at, s.stage_id limit 1 for update skip locked;
  if not found then
    return null;
  end if;
  v_hi := least(v_stage.lo + most, v_stage.hi);
  -- A task may have many lines: then the piece is theirs alone, and the next call goes on here.
  delete from app.task_logs l where l.ctid = any (array(
    select k.ctid from app.task_logs k where k.stage_id = v_stage.stage_id and k.ordinal < v_hi limit most));
  get diagnostics v_gone = row_count;
  delete from app.attempts a where a.ctid = any (array(
    select k.ctid from app.attempts k where k.stage_id = v_stage.stage_id and k.ordinal < v_hi limit most));
  get diagnostics v_rows = row_count;
  if greatest(v_gone, v_rows) >= most then
    return v_gone + v_rows;
  end if;
  delete from app.results r where r.stage_id = v_stage.stage_id and r.ordinal >= v_stage.lo and r.ordinal < v_hi;
  delete from app.task_drafts d where d.stage_id = v_stage.stage_id and d.ordinal >= v_stage.lo and d.ordinal < v_hi;
  delete from app.tasks t where t.stage_id = v_stage.stage_id and t.ordinal >= v_stage.lo and t.ordinal < v_hi;
  get diagnostics v_gone = row_count;
  if v_hi < v_stage.hi then
    update app.removed_stages s set lo = v_hi where s.stage_id = v_stage.stage_id;
  else
    delete from app.task_drafts d where d.stage_id = v_stage.stage_id;
    delete from app.removed_stages s where s.stage_id = v_stage.stage_id;
  end if;
  return v_gone;
end $$;
