-- A run of the janitor ended, well (error null) or not. That of one tenant says nothing about the others.
create or replace function app.janitor_end(run uuid, error text default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  update app.janitor
     set last_success_at = case when error is null then now() else last_success_at end,
         last_error = case when error is not null then left(error, 1000) end
   where app.is_server();
end $$;
grant execute on function app.janitor_end(uuid, text) to fanfold_worker, fanfold_admin;
