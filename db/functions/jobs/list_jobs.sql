-- Jobs of the tenant, newest first, for psql; search_jobs knows more filters. `cursor` is the `next` of the page before.
create or replace function app.list_jobs(
  status text default null, job_type text default null, page_rows integer default 50, cursor text default null, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
begin
  return app.search_jobs(json_build_object('tenant', tenant, 'status', case when list_jobs.status is not null then array[list_jobs.status] end,
    'type', list_jobs.job_type, 'rows', page_rows, 'cursor', cursor));
end $$;
grant execute on function app.list_jobs(text, text, integer, text, text) to fanfold_api, fanfold_admin;
