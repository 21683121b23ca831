-- A worker as the story of a task names it; null where there was none. On which machine it runs is told of a tenant's own worker, and of
-- one that serves all only to operators of the service.
create or replace function app.worker_place(worker uuid, tenant text, machines boolean)
returns json
language sql stable
as $$
  select case when worker is null then null else json_build_object(
      'worker_id', worker, 'shared', w.worker_id is not null and w.tenant_id is null, 'status', w.status,
      'host', case when w.tenant_id = tenant or machines then w.host end,
      'pid', case when w.tenant_id = tenant or machines then w.pid end) end
    from (select 1) one
    -- A worker of another tenant cannot have run it; were there such a row, nothing of it would be told.
    left join app.workers w on w.worker_id = worker and (w.tenant_id is null or w.tenant_id = tenant)
$$;
