-- What went wrong with requests of the last hours, as patterns and not as a list: by job and by what its message says without figures and
-- names, with the newest of each. At most 5,000 requests are looked at.
create or replace function platform.request_failures(hours integer default 24, page_rows integer default 20, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, platform, app, pg_temp
as $$
declare
  v_tenant constant text := app.acting_tenant(tenant);
  v_rows constant integer := app.page_rows(page_rows);
  v_from timestamptz;
begin
  if hours not between 1 and 720 then
    raise exception 'failures are told of the last 1 to 720 hours, not %', hours using errcode = 'FF002';
  end if;
  v_from := now() - make_interval(hours => hours);
  return (
    with lately as materialized (
      select r.* from platform.requests r where r.tenant_id = v_tenant and r.created_at >= v_from order by r.created_at desc limit 5000
    ),
    bad as (
      select l.request_id, l.dataset_id, l.resource_id, l.version_id, l.data_type, l.status, l.finished_at, l.error,
          coalesce(l.error ->> 'job', '') as job, app.masked_message(coalesce(l.error ->> 'message', l.status)) as pattern
        from lately l
       where l.status in ('failed', 'partial_success')
    )
    select json_build_object(
      'hours', hours, 'since', v_from, 'total', (select count(*) from lately), 'ended', (select count(*) from lately l where l.finished_at is not null),
      'failed', (select count(*) from bad b where b.status = 'failed'), 'partial_success', (select count(*) from bad b where b.status = 'partial_success'),
      'failure_rate', (
        select case when count(*) > 0 then round((count(*) filter (where l.status = 'failed'))::numeric / count(*), 4) else 0 end
          from lately l where l.finished_at is not null),
      'patterns', coalesce((
        select json_agg(json_build_object('data_type', p.data_type, 'job', p.job, 'pattern', p.pattern, 'requests', p.requests, 'first_at', p.first_at,
            'last_at', p.last_at, 'latest', p.latest) order by p.requests desc, p.last_at desc)
          from (
            select b.data_type, b.job, b.pattern, count(*) as requests, min(b.finished_at) as first_at, max(b.finished_at) as last_at,
                (array_agg(json_build_object('request_id', b.request_id, 'dataset_id', b.dataset_id, 'resource_id', b.resource_id,
                  'version_id', b.version_id, 'message', b.error ->> 'message') order by b.finished_at desc))[1] as latest
              from bad b group by 1, 2, 3 order by 4 desc, 6 desc limit v_rows) p), '[]')));
end $$;
grant execute on function platform.request_failures(integer, integer, text) to fanfold_api, fanfold_admin;
