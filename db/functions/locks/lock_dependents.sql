-- A transaction that is about to lock rows of *waiting* jobs beside others, or to end or repair a waiting job, holds this first. One lock for
-- all of a tenant, because a cascade finds what it has to lock only as it goes, and no order of rows would hold for two cascades that
-- meet. Who needs several tenants' takes them in one call. A row and no advisory lock: those can be held by any login.
-- Lock order: ready, claims, stage_progress, rows of jobs that run, this, rows of jobs that wait, groups (at commit). A job that
-- waits has nothing in ready, claims or progress, and its row is in nobody's finish: who holds this waits for nobody who wants it.
create or replace function app.lock_dependents(tenants text[])
returns void
language plpgsql
as $$
declare
  v_tenant text;
begin
  for v_tenant in select distinct t collate "C" from unnest(tenants) t order by 1 loop
    insert into app.dependents_locks (tenant_id) values (v_tenant) on conflict do nothing;
    perform 1 from app.dependents_locks l where l.tenant_id = v_tenant for update;
  end loop;
end $$;
