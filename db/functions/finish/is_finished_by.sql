-- Is the task completed, and by this worker in this attempt? What commits together with a finish asks: a finish may have been
-- accepted before (and its answer lost), or have been undone because the stage was closed.
create or replace function app.is_finished_by(worker uuid, stage bigint, task_ordinal bigint, task_attempt integer)
returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  perform app.assert_my_worker(worker);
  return exists (
    select from app.results r
     where r.stage_id = stage and r.ordinal = task_ordinal and r.status = 'completed' and r.worker_id = worker
       and r.attempt = task_attempt);
end $$;
grant execute on function app.is_finished_by(uuid, bigint, bigint, integer) to fanfold_worker, fanfold_admin;
