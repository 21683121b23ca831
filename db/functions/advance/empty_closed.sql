-- Takes what is left of closed stages out of ready and claims. Locked rows are left: their holders find the stage closed, and a
-- claim that stays is refused when it is finished.
create or replace function app.empty_closed(stage_ids bigint[])
returns void
language plpgsql
as $$
begin
  delete from app.ready where ready_id in (select r.ready_id from app.ready r where r.stage_id = any (stage_ids) for update skip locked);
  delete from app.claims where claim_id in (select k.claim_id from app.claims k where k.stage_id = any (stage_ids) for update skip locked);
end $$;
