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
  v_rows integer := coalesce(page_rows, 50);
  v_before timestamptz := 'infinity'::timestamptz;
  v_after_id text := '';
begin
  if v_rows not between 1 and 1000 then
    raise exception 'a page has 1 to 1000 rows, not %', v_rows using errcode = 'FF002';
  end if;
  if cursor is not null then
    if cursor !~ '^\d{1,17}-[0-9a-f]{64}$' then
      raise exception 'the cursor is not one of ours' using errcode = 'FF002', hint = 'pass `next` of the page before, unchanged';
    end if;
    v_before := 'epoch'::timestamptz + split_part(cursor, '-', 1)::bigint * interval '1 microsecond';
    v_after_id := split_part(cursor, '-', 2);
  end if;
  return (
    with page as (
      select j.*
        from app.jobs j
       where j.tenant_id = v_tenant and j.group_id = v_group.group_id
         and j.created_at <= v_before and (j.created_at < v_before or j.job_id > v_after_id)
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
