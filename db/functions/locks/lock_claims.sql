-- Locks what these workers hold, and returns it in the order of ids. Waits for workers that finish there, as briefly as the caller's
-- transaction waits for locks; what somebody holds for longer is left out, and is the sweep's.
create or replace function app.lock_claims(workers uuid[])
returns bigint[]
language plpgsql
as $$
begin
  begin
    return array(select k.claim_id from app.claims k where k.worker_id = any (workers) order by k.claim_id for update);
  exception
    when lock_not_available then null;
  end;
  return array(select k.claim_id from app.claims k where k.worker_id = any (workers) order by k.claim_id for update skip locked);
end $$;
