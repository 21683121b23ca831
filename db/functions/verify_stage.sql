-- The invariant, proven: every ordinal of a stage is in exactly one of ready, claims and results, and the ledger agrees.
-- Returns what does not hold, as text; no rows is the good answer.
create or replace function app.verify_stage(stage bigint)
returns setof text
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_stage app.stages;
  v_ledger app.stage_progress;
  v_row record;
begin
  select * into v_stage from app.stages s where s.stage_id = stage;
  if v_stage.status in ('waiting', 'skipped') then
    return;
  end if;
  for v_row in
    select places.ordinal, count(*) as n, array_agg(places.place) as at
      from (
        select o as ordinal, 'ready' as place from app.ready r, generate_series(r.lo, r.hi - 1) o where r.stage_id = stage
        union all
        select o, 'claims' from app.claims k, unnest(k.held) h, generate_series(lower(h), upper(h) - 1) o where k.stage_id = stage
        union all
        select r.ordinal, 'results' from app.results r where r.stage_id = stage
      ) places
     group by places.ordinal
    having count(*) > 1
  loop
    return next format('ordinal %s of stage %s is in %s places: %s', v_row.ordinal, stage, v_row.n, v_row.at);
  end loop;
  if v_stage.status in ('cancelled', 'planning') then
    return;
  end if;
  return query
    select format('ordinal %s of stage %s is nowhere', t.ordinal, stage)
      from app.tasks t
     where t.stage_id = stage
       and not exists (select from app.results r where r.stage_id = stage and r.ordinal = t.ordinal)
       and not exists (select from app.claims k where k.stage_id = stage and k.held @> t.ordinal)
       and not exists (select from app.ready r where r.stage_id = stage and r.lo <= t.ordinal and r.hi > t.ordinal);
  select * into v_ledger from app.stage_progress p where p.stage_id = stage;
  if found then
    return query
      select format('stage %s: the ledger says %s, the results say %s', stage,
          (v_ledger.completed, v_ledger.failed, v_ledger.skipped), (c.completed, c.failed, c.skipped))
        from (
          select count(*) filter (where r.status = 'completed') as completed, count(*) filter (where r.status = 'failed') as failed,
            count(*) filter (where r.status = 'skipped') as skipped
            from app.results r where r.stage_id = stage) c
       where (v_ledger.completed, v_ledger.failed, v_ledger.skipped) <> (c.completed, c.failed, c.skipped);
  end if;
end $$;
grant execute on function app.verify_stage(bigint) to fanfold_admin;
