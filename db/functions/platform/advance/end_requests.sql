-- Requests of which nothing is left open end, as the decision table of jobs says one level up (app.job_outcome). The caller holds their rows.
create or replace function platform.end_requests(tenants text[], ids text[])
returns void
language plpgsql
as $$
declare
  v_request platform.requests;
begin
  with looked as materialized (
    select u.tenant_id, u.request_id, a.outcome::text as outcome
      from unnest(tenants, ids) as u(tenant_id, request_id)
      cross join lateral (
        select app.job_outcome(array_agg(l.status), array_agg(l.importance)) as outcome
          from (
            select j.importance, platform.status_of(j.phase, (
                select q.status from app.jobs q where q.tenant_id = j.tenant_id and q.job_id = j.job_id)) as status
              from platform.request_jobs j
             where j.tenant_id = u.tenant_id and j.request_id = u.request_id
            offset 0) l) a
  ),
  ended as (
    update platform.requests r
       set status = l.outcome, finished_at = now(), updated_at = now(), started_at = coalesce(r.started_at, now()),
           error = case when l.outcome <> 'completed' then platform.request_error(r) end,
           result_data = platform.result_of(r)
      from looked l
     where r.tenant_id = l.tenant_id and r.request_id = l.request_id and r.finished_at is null
    returning r.*
  )
  insert into app.events (tenant_id, kind, request_id, reason, audit, data)
  select e.tenant_id, 'request.' || e.status, e.request_id, e.error ->> 'message', true,
    jsonb_build_object('request_id', e.request_id, 'dataset_id', e.dataset_id, 'resource_id', e.resource_id, 'version_id', e.version_id)
    from ended e;
  for v_request in
    select r.*
      from unnest(tenants, ids) as u(tenant_id, request_id)
      cross join lateral (select * from platform.requests q where q.tenant_id = u.tenant_id and q.request_id = u.request_id offset 0) r
     order by r.tenant_id, r.request_id
  loop
    perform platform.request_ended(v_request);
  end loop;
end $$;
