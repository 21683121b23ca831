-- All history is looked through again now, and not only when its turn comes.
create or replace function app.retire_again()
returns void
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  if app.worker_tenant() is null then
    update app.retention_rounds r set due_at = 'epoch', after = null;
  end if;
end $$;
grant execute on function app.retire_again() to fanfold_worker, fanfold_admin;
