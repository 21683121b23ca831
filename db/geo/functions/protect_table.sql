-- Closes a table to all but its tenant. The policy names the tenant, so that the table needs no column for it; a session without a
-- tenant compares with null and sees nothing.
create or replace function geo.protect_table(of_table text, of_tenant text)
returns void
language plpgsql
set search_path = pg_catalog, geo, app, pg_temp
as $$
begin
  execute format('alter table geo.%I enable row level security, force row level security', of_table);
  execute format('create policy owner_sees_all on geo.%I to fanfold_owner using (true) with check (true)', of_table);
  execute format(
    'create policy tenant_reads_its_own on geo.%I for select to fanfold_api, fanfold_worker, fanfold_admin '
    || 'using ((select app.current_tenant()) = %L)', of_table, of_tenant);
  execute format('grant select on geo.%I to fanfold_api, fanfold_worker, fanfold_admin', of_table);
end $$;
