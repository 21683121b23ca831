-- How many jobs the tenant has in each status, without looking at more than 50,000 of a kind: `at_least` names the statuses that
-- may have more.
create or replace function app.count_jobs(tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  c_most constant integer := 50000;
  v_tenant text := app.acting_tenant(tenant);
begin
  return (
    with counted as (
      select e.status, 'open' as kind
        from (select j.status from app.jobs j where j.tenant_id = v_tenant and j.finished_at is null order by j.created_at desc, j.job_id limit c_most) e
      union all
      select e.status, 'bad'
        from (select j.status from app.jobs j where j.tenant_id = v_tenant and j.ended_badly order by j.created_at desc, j.job_id limit c_most) e
      union all
      select e.status, 'all'
        from (select j.status from app.jobs j where j.tenant_id = v_tenant order by j.created_at desc, j.job_id limit c_most) e
    ),
    kinds as (select c.kind, count(*) >= c_most as full_up from counted c group by c.kind),
    statuses as (
      select s.status, case when s.status in ('queued', 'processing') then 'open' when s.status = 'completed' then 'all' else 'bad' end as kind
        from unnest(enum_range(null::app.job_status)) s(status)
    )
    select json_build_object(
      'counts', json_object_agg(s.status, (select count(*) from counted c where c.kind = s.kind and c.status = s.status)),
      'at_least', coalesce(json_agg(s.status) filter (where exists (select from kinds k where k.kind = s.kind and k.full_up)), '[]'))
    from statuses s);
end $$;
grant execute on function app.count_jobs(text) to fanfold_api, fanfold_admin;
