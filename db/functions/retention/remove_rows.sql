-- The next piece of what is left of jobs that are gone: at most so many rows of each table, of one wide stage or of many small ones. Nobody else reads
-- or writes them. Null: there is nothing left.
create or replace function app.remove_rows(most integer)
returns bigint
language plpgsql
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  c_stages constant integer := 200;
  v_ids bigint[];
  v_los bigint[];
  v_his bigint[];
  v_gone bigint := 0;
  v_rows bigint;
begin
  select array_agg(p.stage_id), array_agg(p.lo), array_agg(least(p.lo + most, p.hi)) into v_ids, v_los, v_his
    from (
      select n.*, row_number() over w as place, sum(n.hi - n.lo) over w as ordinals
        from (
          select * from app.removed_stages s order by s.removed_at, s.stage_id limit c_stages for update skip locked
        ) n
      window w as (order by n.removed_at, n.stage_id)
    ) p
   where p.place = 1 or p.ordinals <= most;
  if v_ids is null then
    return null;
  end if;
  -- A task may have many lines: then the piece is theirs alone, and the next call goes on here.
  delete from app.task_logs l where l.ctid = any (array(
    select k.ctid from unnest(v_ids, v_his) s (stage_id, hi) join app.task_logs k on k.stage_id = s.stage_id and k.ordinal < s.hi limit most));
  get diagnostics v_gone = row_count;
  delete from app.attempts a where a.ctid = any (array(
    select k.ctid from unnest(v_ids, v_his) s (stage_id, hi) join app.attempts k on k.stage_id = s.stage_id and k.ordinal < s.hi limit most));
  get diagnostics v_rows = row_count;
  if greatest(v_gone, v_rows) >= most then
    return v_gone + v_rows;
  end if;
  delete from app.results r using unnest(v_ids, v_los, v_his) s (stage_id, lo, hi)
   where r.stage_id = s.stage_id and r.ordinal >= s.lo and r.ordinal < s.hi;
  delete from app.task_drafts d using unnest(v_ids, v_los, v_his) s (stage_id, lo, hi)
   where d.stage_id = s.stage_id and d.ordinal >= s.lo and d.ordinal < s.hi;
  delete from app.tasks t using unnest(v_ids, v_los, v_his) s (stage_id, lo, hi)
   where t.stage_id = s.stage_id and t.ordinal >= s.lo and t.ordinal < s.hi;
  get diagnostics v_gone = row_count;
  update app.removed_stages r set lo = s.hi
    from unnest(v_ids, v_his) s (stage_id, hi)
   where r.stage_id = s.stage_id;
  delete from app.task_drafts d using app.removed_stages r where r.stage_id = any (v_ids) and r.lo >= r.hi and d.stage_id = r.stage_id;
  delete from app.removed_stages r where r.stage_id = any (v_ids) and r.lo >= r.hi;
  return v_gone;
end $$;
