-- The invariant, proven: every ordinal 0…N-1 of a stage is in exactly one of ready, claims and results (of a stage that was closed
-- before its end: in results or absent), and the ledger agrees. Returns what does not hold, as text; no rows is the good answer.
create or replace function app.verify_stage(stage bigint)
returns setof text
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_stage app.stages;
  v_ledger app.stage_progress;
  v_row record;
  v_ended_early boolean;
begin
  select * into v_stage from app.stages s where s.stage_id = stage;
  select * into v_ledger from app.stage_progress p where p.stage_id = stage;
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
  if v_ledger.stage_id is null then
    if v_stage.status = 'processing' and v_stage.job_id is not null then
      return next format('stage %s is processing and has no ledger', stage);
    end if;
    return;
  end if;
  v_ended_early := v_stage.closed_at is not null and v_ledger.remaining > 0;
  if v_stage.closed_at is not null then
    return query
      select format('stage %s is %s and ordinals of it are still in ready', stage, v_stage.status)
       where exists (select from app.ready r where r.stage_id = stage);
  end if;
  if v_stage.status in ('completed', 'partial_success') and v_ledger.remaining > 0 then
    return next format('stage %s is %s and %s of its tasks have no result', stage, v_stage.status, v_ledger.remaining);
  end if;
  return query
    select format('stage %s has %s tasks, its ledger says %s', stage, t.n, v_ledger.total)
      from (select count(*) as n, max(k.ordinal) as last from app.tasks k where k.stage_id = stage) t
     where t.n <> v_ledger.total or t.last <> v_ledger.total - 1;
  return query
    select format('ordinal %s of stage %s is nowhere', t.ordinal, stage)
      from app.tasks t
     where t.stage_id = stage and not v_ended_early and v_stage.status in ('processing', 'completed', 'partial_success', 'failed')
       and not exists (select from app.results r where r.stage_id = stage and r.ordinal = t.ordinal)
       and not exists (select from app.claims k where k.stage_id = stage and k.held @> t.ordinal)
       and not exists (select from app.ready r where r.stage_id = stage and r.lo <= t.ordinal and r.hi > t.ordinal);
  return query
    select format('stage %s: the ledger says %s, the results say %s', stage,
        (v_ledger.completed, v_ledger.failed, v_ledger.skipped), (c.completed, c.failed, c.skipped))
      from (
        select count(*) filter (where r.status = 'completed') as completed, count(*) filter (where r.status = 'failed') as failed,
          count(*) filter (where r.status = 'skipped') as skipped
          from app.results r where r.stage_id = stage) c
     where (v_ledger.completed, v_ledger.failed, v_ledger.skipped) <> (c.completed, c.failed, c.skipped);
end $$;
grant execute on function app.verify_stage(bigint) to fanfold_admin;
