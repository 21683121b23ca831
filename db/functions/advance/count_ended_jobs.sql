-- Counts jobs by how they ended, in the transaction that ends them: for operators who watch the service, and for their tenants' lists. Gives
-- the requests that any of them belong to, as pairs (null where there are none), and whether any is in a group or has receivers of its own.
create or replace function app.count_ended_jobs(inout tenants text[], job_ids text[], out ids text[], out grouped boolean, out heard boolean)
language plpgsql
as $$
begin
  with ended as (
    select e.tenant, j.job_type, j.status, count(*) as amount, array_agg(j.request_id) filter (where j.request_id is not null) as requests,
      bool_or(j.group_id is not null) as grouped, bool_or(j.webhooks is not null) as heard
      from unnest(tenants, job_ids) as e(tenant, job_id)
      cross join lateral (select * from app.jobs q where q.tenant_id = e.tenant and q.job_id = e.job_id offset 0) j
     group by 1, 2, 3
  ),
  tallied as (
    insert into app.job_tallies (tenant_id, job_type, status, amount) select e.tenant, e.job_type, e.status, e.amount from ended e
  ),
  told as (
    insert into app.tallies (name, label, amount) select 'jobs_ended', e.status, sum(e.amount) from ended e group by e.status
  )
  select array_agg(e.tenant) filter (where r is not null), array_agg(r) filter (where r is not null), bool_or(e.grouped), bool_or(e.heard)
    into tenants, ids, grouped, heard
    from ended e left join unnest(e.requests) r on true;
end $$;
