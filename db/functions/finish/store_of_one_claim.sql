-- Stores what was done under one claim: a wide stage finishes like this, and no join stands in its way. The caller has locked the
-- claim and seen that it is the worker's.
create or replace function app.store_of_one_claim(
  worker uuid, claim bigint, ordinals bigint[], durations integer[], given jsonb, extras json,
  out claims bigint[], out stages bigint[], out counts bigint[], out ranges int8multirange[], out stored bigint)
language plpgsql
as $$
declare
  v_claim app.claims;
  v_done int8multirange;
begin
  stored := 0;
  select * into v_claim from app.claims k where k.claim_id = claim;
  if not found then
    return;
  end if;
  select range_agg(int8range(o, o + 1)) into v_done from unnest(ordinals) o where v_claim.held @> o and o >= 0;
  insert into app.results (stage_id, ordinal, tenant_id, status, attempt, worker_id, duration_ms, result, next_stage_params, spill, deliverables)
  select v_claim.stage_id, i.o, v_claim.tenant_id, 'completed', v_claim.attempt, worker, i.d, nullif(i.r, 'null'), x.n, x.s, x.v
    from rows from (unnest(ordinals, durations), jsonb_array_elements(given)) with ordinality as i(o, d, r, position)
    left join json_to_recordset(extras) as x(i bigint, n jsonb, s jsonb, v jsonb) on x.i = i.position
   where v_claim.held @> i.o and i.o >= 0;
  get diagnostics stored = row_count;
  if stored > 0 then
    claims := array[claim];
    stages := array[v_claim.stage_id];
    counts := array[stored];
    ranges := array[v_done];
  end if;
end $$;
