-- Returns where these ordinals of a stage stand: as task_states tells it for one, read as ranges. `vanished` are skipped because a
-- new plan has them no more, `beyond` are none of the stage's tasks.
create or replace function app.ordinals_by_status(
  stage app.stages, ordinals int8multirange,
  out queued int8multirange, out processing int8multirange, out completed int8multirange, out failed int8multirange,
  out skipped int8multirange, out vanished int8multirange, out cancelled int8multirange, out beyond int8multirange)
language plpgsql stable
as $$
declare
  v_all int8multirange := int8multirange(int8range(0, coalesce(
    (select p.total from app.stage_progress p where p.stage_id = stage.stage_id), stage.total, 0)));
begin
  beyond := ordinals - v_all;
  ordinals := ordinals * v_all;
  queued := ordinals * coalesce((select range_agg(int8range(q.lo, q.hi)) from app.ready q where q.stage_id = stage.stage_id), '{}');
  processing := ordinals * coalesce((select range_agg(k.held) from app.claims k where k.stage_id = stage.stage_id), '{}');
  select coalesce(range_agg(r.at) filter (where r.status = 'completed'), '{}'),
      coalesce(range_agg(r.at) filter (where r.status = 'failed'), '{}'),
      coalesce(range_agg(r.at) filter (where r.status = 'skipped' and not r.gone), '{}'),
      coalesce(range_agg(r.at) filter (where r.status = 'skipped' and r.gone), '{}'),
      coalesce(range_agg(r.at) filter (where r.status = 'cancelled'), '{}')
    into completed, failed, skipped, vanished, cancelled
    from unnest(ordinals) w
    cross join lateral (
      select int8range(q.ordinal, q.ordinal + 1) as at, q.status, q.status = 'skipped' and q.error ->> 'code' = 'vanished' as gone
        from app.results q
       where q.stage_id = stage.stage_id and q.ordinal >= lower(w) and q.ordinal < upper(w)
      offset 0) r;
  cancelled := cancelled + (ordinals - queued - processing - completed - failed - skipped - vanished - cancelled);
end $$;
