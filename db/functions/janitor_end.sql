-- A run of the janitor ended, well (error null) or not.
create or replace function app.janitor_end(run uuid, error text default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  update app.janitor
     set last_success_at = case when error is null then now() else last_success_at end,
         last_error = case when error is not null then case when app.is_server() then left(error, 1000) else 'a sweep failed' end end;
end $$;
grant execute on function app.janitor_end(uuid, text) to fanfold_worker, fanfold_admin;
