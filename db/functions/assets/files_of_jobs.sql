-- The files of these jobs (a JSON array of ids) by place, a page of them: [{ref, shared}], `shared` where another job has recorded it too. `after`
-- is the last ref of the page before.
create or replace function app.files_of_jobs(jobs json, after text default null, page_rows integer default 1000, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_jobs text[] := array(select json_array_elements_text(jobs));
begin
  return (
    select coalesce(json_agg(json_build_object('ref', f.ref, 'shared', f.job_id is null) order by f.ref), '[]')
      from (
        select (a.zone || ':' || a.key) collate "C" as ref, a.job_id
          from app.assets_of_jobs(v_tenant, v_jobs) a
         where after is null or (a.zone || ':' || a.key) collate "C" > after
         order by 1 limit least(page_rows, 10000)) f);
end $$;
grant execute on function app.files_of_jobs(json, text, integer, text) to fanfold_api, fanfold_worker, fanfold_admin;
