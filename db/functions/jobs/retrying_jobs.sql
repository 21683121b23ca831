-- The jobs of a tenant in which something is tried again, or waits to be: found by what is tried again, one step of the index per
-- stage, and no task is looked at. At most 5,000 stages.
create or replace function app.retrying_jobs(tenant text)
returns text[]
language plpgsql stable
as $$
declare
  c_most constant integer := 5000;
begin
  return (
    with recursive waits as (
      (select r.stage_id from app.ready r
        where r.tenant_id = tenant and (r.attempt > 1 or r.crashes > 0 or r.throttles > 0) order by r.stage_id limit 1)
      union all
      select (
        select r.stage_id from app.ready r
         where r.tenant_id = tenant and r.stage_id > w.stage_id and (r.attempt > 1 or r.crashes > 0 or r.throttles > 0)
         order by r.stage_id limit 1)
        from waits w
       where w.stage_id is not null
    ),
    runs as (
      (select k.stage_id from app.claims k
        where k.tenant_id = tenant and (k.attempt > 1 or k.crashes > 0 or k.throttles > 0) order by k.stage_id limit 1)
      union all
      select (
        select k.stage_id from app.claims k
         where k.tenant_id = tenant and k.stage_id > n.stage_id and (k.attempt > 1 or k.crashes > 0 or k.throttles > 0)
         order by k.stage_id limit 1)
        from runs n
       where n.stage_id is not null
    ),
    either as (
      (select w.stage_id from waits w where w.stage_id is not null limit c_most)
      union
      (select n.stage_id from runs n where n.stage_id is not null limit c_most)
    )
    select coalesce(array_agg(distinct s.job_id), '{}')
      from either e
      cross join lateral (select q.job_id from app.stages q where q.stage_id = e.stage_id offset 0) s
     where s.job_id is not null);
end $$;
