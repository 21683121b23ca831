-- Stores what was done under several claims. Each item looks its claim up by key: `offset 0` keeps the planner from joining
-- 500 items with 500 claims pair by pair. `locked` are those that the caller has locked and seen to be the worker's.
create or replace function app.store_of_many_claims(
  worker uuid, locked bigint[], claim_ids bigint[], ordinals bigint[], durations integer[], given jsonb, extras json,
  out claims bigint[], out stages bigint[], out counts bigint[], out ranges int8multirange[], out stored bigint)
language plpgsql
as $$
begin
  with accepted as materialized (
    select k.claim_id, k.stage_id, k.tenant_id, k.attempt, i.o, i.d, nullif(i.r, 'null') as r, i.position
      from rows from (unnest(claim_ids, ordinals, durations), jsonb_array_elements(given)) with ordinality as i(c, o, d, r, position)
      cross join lateral (
        select * from app.claims k where k.claim_id = i.c offset 0
      ) k
     where k.claim_id = any (locked) and k.held @> i.o and i.o >= 0
  ),
  inserted as (
    insert into app.results (stage_id, ordinal, tenant_id, status, attempt, worker_id, duration_ms, result, next_stage_params, spill, deliverables)
    select a.stage_id, a.o, a.tenant_id, 'completed', a.attempt, worker, a.d, a.r, x.n, x.s, x.v
      from accepted a
      left join json_to_recordset(extras) as x(i bigint, n jsonb, s jsonb, v jsonb) on x.i = a.position
  )
  select array_agg(p.claim_id), array_agg(p.stage_id), array_agg(p.n), array_agg(p.mr), coalesce(sum(p.n), 0)
    into claims, stages, counts, ranges, stored
    from (
      select a.claim_id, a.stage_id, count(*) as n, range_agg(int8range(a.o, a.o + 1)) as mr from accepted a group by 1, 2
    ) p;
end $$;
