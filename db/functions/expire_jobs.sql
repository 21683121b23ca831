-- Fails one job that is past its deadline; returns how many that were, so that the caller asks again until it is none. One job
-- a call: ending a job takes locks in an order that holds for one job at a time.
create or replace function app.expire_jobs()
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_job app.jobs;
begin
  select * into v_job
    from app.jobs j
   where j.deadline_at < now() and j.finished_at is null
   order by j.deadline_at
   limit 1;
  if not found then
    return json_build_object('expired', 0);
  end if;
  perform app.end_job(v_job, 'failed', jsonb_build_object(
    'code', 'deadline', 'message', 'it had not ended by its deadline, ' || v_job.deadline_at));
  return json_build_object('expired', 1);
end $$;
grant execute on function app.expire_jobs() to fanfold_worker, fanfold_admin;
