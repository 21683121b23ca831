-- For the janitor: of jobs that are worked on and whose deadline counts from the start of work, writes down when it is. Also makes a job
-- 'processing' whose first claim found its row locked. Found by what is held now: what has ended meanwhile needs no deadline, and what
-- waits for a worker does not come nearer to it unseen.
create or replace function app.start_clocks()
returns integer
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_own text := app.worker_tenant();
  v_stages bigint[] := array(select distinct k.stage_id from app.claims k where v_own is null or k.tenant_id = v_own);
  v_started integer;
begin
  perform app.mark_started(v_stages);
  update app.jobs j
     set deadline_at = app.deadline_of(j), deadline_left_s = null
   where j.ctid = any (array(
     select q.place
       from (
         select distinct s.tenant_id, s.job_id
           from unnest(v_stages) u(stage_id)
           cross join lateral (select * from app.stages g where g.stage_id = u.stage_id and g.job_id is not null offset 0) s) w
       cross join lateral (
         select q.ctid as place
           from app.jobs q
          where q.tenant_id = w.tenant_id and q.job_id = w.job_id and q.finished_at is null and q.deadline_left_s is not null
            and q.started_at is not null and not q.clock_stands
            for no key update skip locked) q));
  get diagnostics v_started = row_count;
  return v_started;
end $$;
grant execute on function app.start_clocks() to fanfold_worker, fanfold_admin;
