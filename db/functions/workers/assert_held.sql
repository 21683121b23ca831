-- What a worker does for a task besides finishing it (a file for it, for example) it does only while it holds it. Not a lock: what a zombie
-- writes between this and the end of its lease is seen by nobody.
create or replace function app.assert_held(worker uuid, claim bigint, stage bigint, task_ordinal bigint, task_attempt integer)
returns void
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  perform app.known_worker(worker);
  if not exists (
    select from app.claims k
     where k.claim_id = claim and k.worker_id = worker and k.stage_id = stage and k.attempt = task_attempt and k.held @> task_ordinal) then
    raise exception 'task %-% is not held under claim % any more', stage, task_ordinal, claim
      using errcode = 'FF006', hint = 'others have it now, or it was cancelled: drop it';
  end if;
end $$;
grant execute on function app.assert_held(uuid, bigint, bigint, bigint, integer) to fanfold_worker, fanfold_admin;
