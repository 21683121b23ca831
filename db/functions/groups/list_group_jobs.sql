-- Jobs of a group, newest first, by keyset; `open_only`: those that have not ended.
create or replace function app.list_group_jobs(
  group_id text, open_only boolean default false, page_rows integer default 50, cursor text default null, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_group app.job_groups := app.find_group(v_tenant, list_group_jobs.group_id);
  v_rows integer := app.page_rows(page_rows);
  v_last record := app.time_cursor(cursor, '-[0-9a-f]{64}');
begin
  return (
    with page as (
      select j.*
        from app.jobs j
       where j.tenant_id = v_tenant and j.group_id = v_group.group_id
         and j.created_at <= v_last.at and (j.created_at < v_last.at or j.job_id > v_last.id)
         and (open_only is not true or j.finished_at is null)
       order by j.created_at desc, j.job_id
       limit v_rows + 1
    ),
    shown as (select * from page order by created_at desc, job_id limit v_rows)
    select json_build_object(
      'jobs', coalesce(json_agg(json_build_object(
        'job_id', s.job_id, 'job_type', s.job_type, 'run', s.run, 'status', s.status, 'priority', s.priority, 'labels', s.labels,
        'created_at', s.created_at, 'started_at', s.started_at, 'finished_at', s.finished_at, 'error', s.error) order by s.created_at desc, s.job_id), '[]'),
      'next', case when (select count(*) from page) > v_rows then (
        select (extract(epoch from l.created_at) * 1000000)::bigint || '-' || l.job_id
          from shown l order by l.created_at, l.job_id desc limit 1) end)
    from shown s);
end $$;
grant execute on function app.list_group_jobs(text, boolean, integer, text, text) to fanfold_api, fanfold_admin;
