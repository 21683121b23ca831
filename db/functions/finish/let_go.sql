-- Subtracts ordinals from claims the caller has locked; a claim that holds nothing more is gone.
create or replace function app.let_go(claim_ids bigint[], ranges int8multirange[])
returns void
language plpgsql
as $$
declare
  v_gone bigint;
begin
  if cardinality(claim_ids) = 1 then
    delete from app.claims k where k.claim_id = claim_ids[1] and k.held <@ ranges[1];
    if not found then
      update app.claims k set held = k.held - ranges[1] where k.claim_id = claim_ids[1];
    end if;
    return;
  end if;
  delete from app.claims k
   where k.claim_id = any (array(
     select g.claim_id
       from unnest(claim_ids, ranges) as g(claim_id, mr)
       cross join lateral (select h.held from app.claims h where h.claim_id = g.claim_id offset 0) h
      where h.held <@ g.mr));
  get diagnostics v_gone = row_count;
  if v_gone < cardinality(claim_ids) then
    update app.claims k
       set held = k.held - g.mr
      from unnest(claim_ids, ranges) as g(claim_id, mr)
     where k.claim_id = g.claim_id and k.claim_id = any (claim_ids);
  end if;
end $$;
