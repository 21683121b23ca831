-- Skips whatever of these ordinals of an open stage is held by workers, which can finish it no more. Returns what it skipped.
create or replace function app.skip_held(stage app.stages, ordinals int8multirange, error jsonb)
returns int8multirange
language plpgsql
as $$
declare
  v_claims bigint[];
  v_ranges int8multirange[];
  v_skipped int8multirange;
begin
  with mine as (
    select * from app.claims k where k.stage_id = stage.stage_id and k.held && ordinals order by k.claim_id for update
  ),
  told as (
    insert into app.results (stage_id, ordinal, tenant_id, status, attempt, error)
    select m.stage_id, o, m.tenant_id, 'skipped', m.attempt, skip_held.error
      from mine m
      cross join lateral unnest(m.held * ordinals) w
      cross join lateral generate_series(lower(w), upper(w) - 1) o
  )
  select array_agg(m.claim_id order by m.claim_id), array_agg(m.held * ordinals order by m.claim_id), coalesce(range_agg(m.held * ordinals), '{}')
    into v_claims, v_ranges, v_skipped
    from mine m;
  if v_claims is not null then
    perform app.let_go(v_claims, v_ranges);
  end if;
  return v_skipped;
end $$;
