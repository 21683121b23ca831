-- The stage whose planning this claim holds, the claim locked; an error when the worker no longer holds it.
create or replace function app.planning_stage(worker uuid, claim bigint)
returns bigint
language plpgsql
as $$
declare
  v_stage bigint;
begin
  perform app.assert_my_worker(worker);
  select k.stage_id into v_stage
    from app.claims k
    join app.stages s on s.stage_id = k.stage_id
   where k.claim_id = claim and k.worker_id = worker and k.held @> -1::bigint and s.status = 'planning'
     for update of k;
  if not found then
    raise exception 'the planning is no longer held under claim %', claim
      using errcode = 'FF006', hint = 'another worker plans this stage, or its job ended; drop the plan';
  end if;
  return v_stage;
end $$;
