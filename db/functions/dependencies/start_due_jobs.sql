-- Jobs whose time has come wait for one thing less; who waits for nothing more starts. Any process may call it, many at once. Gives how many
-- were due, and when to look again. Tenants whose rows somebody holds are left for the next time.
create or replace function app.start_due_jobs(page_rows integer default 500)
returns json
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_own text := app.worker_tenant();
  v_tenant text;
  v_ids text[];
  v_free text[];
  v_tenants text[];
  v_due integer := 0;
begin
  for v_tenant, v_ids in
    select d.tenant_id, array_agg(d.job_id)
      from (
        select j.tenant_id, j.job_id from app.jobs j
         where j.starts_at <= now() and j.finished_at is null and (v_own is null or j.tenant_id = v_own)
         order by j.starts_at limit least(greatest(page_rows, 1), 5000)) d
     group by 1 order by 1
  loop
    begin
      perform app.wait_briefly();
      perform app.lock_dependents(array[v_tenant]);
      with moved as (
        update app.jobs j
           set starts_at = null, waits_for = j.waits_for - 1
         where j.ctid = any (array(
           select q.ctid from app.jobs q
            where q.tenant_id = v_tenant and q.job_id = any (v_ids) and q.starts_at <= now() and q.finished_at is null
            order by q.job_id for update skip locked))
        returning j.job_id, j.waits_for
      )
      select v_due + count(*), array_agg(m.job_id order by m.job_id) filter (where m.waits_for = 0) into v_due, v_free from moved m;
      if v_free is not null then
        update platform.requests r
           set status = 'processing', started_at = coalesce(r.started_at, now()), updated_at = now()
          from app.jobs j
         where j.tenant_id = v_tenant and j.job_id = any (v_free)
           and r.tenant_id = j.tenant_id and r.request_id = j.request_id and r.status = 'pending';
        v_tenants := array_fill(v_tenant, array[cardinality(v_free)]);
        select r.tenants, r.job_ids into v_tenants, v_free from app.release_dependents(v_tenants, v_free) r;
        perform app.jobs_ended(v_tenants, v_free);
      end if;
    exception
      when lock_not_available then null;
    end;
  end loop;
  -- What is due and held is looked at again in the usual time; `greatest` would make 0 of no job at all.
  return json_build_object('started', v_due, 'wait_s', (
    select extract(epoch from min(j.starts_at) - now())
      from app.jobs j
     where j.starts_at > now() and j.finished_at is null and (v_own is null or j.tenant_id = v_own)));
end $$;
grant execute on function app.start_due_jobs(integer) to fanfold_worker, fanfold_admin;
