-- Drops tables that nobody needs any more: those of layers after their time, and stages and candidates of loads that have ended or were
-- given up. A failed load keeps its candidate for a day, because a resume goes on with it. A table that is read at this moment waits for
-- the next sweep: who asks here waits for nobody.
create or replace function geo.sweep_tables(most integer default 20)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, geo, app, pg_temp
set lock_timeout = '200ms'
as $$
declare
  v_own text := app.worker_tenant();
  v_table record;
  v_dropped integer := 0;
  v_busy integer := 0;
begin
  for v_table in
    select t.table_name
      from geo.tables t
      left join app.jobs j on j.tenant_id = t.tenant_id and j.job_id = t.job_id
     where (v_own is null or t.tenant_id = v_own)
       and (t.doomed_at <= now()
         or t.kind = 'stage' and (t.created_at < now() - interval '1 hour' or j.job_id is null or j.finished_at < now() - interval '1 minute')
         or t.kind in ('candidate', 'snapshot') and (
           j.job_id is null and t.touched_at < now() - interval '10 minutes'
           or j.finished_at < now() - interval '1 minute' and j.status in ('completed', 'cancelled')
           or j.finished_at < now() - interval '1 day' and t.touched_at < now() - interval '1 day'))
     order by t.created_at
     limit most
       for update of t skip locked
  loop
    begin
      execute format('drop table if exists geo.%I', v_table.table_name);
      delete from geo.tables t where t.table_name = v_table.table_name;
      update geo.layer_versions v set table_name = null where v.table_name = v_table.table_name;
      v_dropped := v_dropped + 1;
    exception
      when lock_not_available then v_busy := v_busy + 1;
    end;
  end loop;
  return jsonb_build_object('dropped', v_dropped, 'busy', v_busy);
end $$;
grant execute on function geo.sweep_tables(integer) to fanfold_worker, fanfold_admin;
