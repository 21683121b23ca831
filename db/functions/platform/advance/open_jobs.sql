-- Makes the jobs of these places in requests and starts them, all that are alike together. A job whose parameters cannot be made fails, and
-- its request is looked at again. Gives the jobs that ended at once, and the requests to look at again. The caller holds the requests' rows.
create or replace function platform.open_jobs(
  inout tenants text[], inout ids text[], numbers integer[], out again_tenants text[], out again text[])
language plpgsql
as $$
declare
  v_tenant text;
  v_hash text;
  v_blueprint jsonb;
  v_places text[];
  v_place_numbers integer[];
  v_made text[];
  v_slow text[];
  v_slow_tenants text[] := '{}'::text[];
  v_slow_jobs text[] := '{}'::text[];
  v_all_tenants constant text[] := tenants;
  v_all constant text[] := ids;
begin
  again_tenants := '{}'::text[];
  again := '{}'::text[];
  for v_tenant, v_hash, v_places, v_place_numbers in
    select j.tenant_id, j.blueprint_hash, array_agg(j.request_id order by j.request_id, j.number), array_agg(j.number order by j.request_id, j.number)
      from unnest(v_all_tenants, v_all, numbers) as u(tenant_id, request_id, number)
      cross join lateral (
        select * from platform.request_jobs w where w.tenant_id = u.tenant_id and w.request_id = u.request_id and w.number = u.number offset 0) j
     group by 1, 2 order by 1, 2
  loop
    select b.blueprint into v_blueprint from app.blueprints b where b.tenant_id = v_tenant and b.blueprint_hash = v_hash;
    with placed as materialized (
      select r.request, w.place, p.parameters, p.error
        from unnest(v_places, v_place_numbers) as u(request_id, number)
        cross join lateral (
          select q as request from platform.requests q where q.tenant_id = v_tenant and q.request_id = u.request_id offset 0) r
        cross join lateral (
          select j as place from platform.request_jobs j where j.tenant_id = v_tenant and j.request_id = u.request_id and j.number = u.number offset 0) w
        cross join lateral platform.made_parameters(r.request, w.place, v_blueprint -> 'parameters') p
    ),
    named as materialized (
      select p.*, (p.place).generation + 1 as run,
          platform.job_hash(v_tenant, (p.place).job_type, (p.place).request_id, (p.place).name, null) as content_hash,
          platform.job_hash(v_tenant, (p.place).job_type, (p.place).request_id, (p.place).name, (p.place).generation + 1) as job_id
        from placed p
       where p.error is null
    ),
    made as (
      insert into app.jobs (
        tenant_id, job_id, content_hash, run, job_type, blueprint_hash, priority, parameters, labels, correlation_id, deadline_s, deadline_left_s,
        traceparent, request_id, run_at, starts_at, waits_for)
      select v_tenant, n.job_id, n.content_hash, n.run, (n.place).job_type, v_hash, (n.request).priority, n.parameters, (n.request).labels,
        (n.request).correlation_id, d.deadline_s, d.deadline_s, (n.request).traceparent, (n.place).request_id,
        l.starts_at, l.starts_at, case when l.starts_at is null then 0 else 1 end
        from named n
        cross join lateral (select case when (n.request).run_at > now() then (n.request).run_at end as starts_at) l
        cross join (select app.usual_deadline_s(v_blueprint) as deadline_s) d
       order by n.job_id
      returning job_id
    ),
    noted as (
      insert into app.events (tenant_id, kind, job_id, actor, data)
      select v_tenant, 'job.submitted', n.job_id, (n.request).created_by, jsonb_build_object('request_id', (n.place).request_id) from named n
    ),
    opened as (
      update platform.request_jobs j
         set phase = case when n.error is null then app.stage_status 'processing' else 'failed' end, job_id = coalesce(n.job_id, j.job_id),
             generation = coalesce(n.run, j.generation), opened_at = now(), error = n.error, closed_at = case when n.error is not null then now() end,
             superseded = case when n.job_id is not null and j.job_id is not null then j.superseded || j.job_id else j.superseded end
        from (
          select n.place, n.job_id, n.run, null::jsonb as error from named n
          union all
          select p.place, null, null, p.error from placed p where p.error is not null) n
       where j.tenant_id = v_tenant and j.request_id = (n.place).request_id and j.number = (n.place).number
    ),
    begun as (
      update platform.requests r
         set status = 'processing', started_at = coalesce(r.started_at, now()), updated_at = now()
       where r.tenant_id = v_tenant and r.request_id = any (v_places) and r.status = 'pending'
         and (r.run_at > now()) is not true
    )
    select array(select m.job_id from made m order by 1), again_tenants || t.tenants, again || t.ids
      into v_made, again_tenants, again
      from (
        select array_agg(v_tenant) as tenants, array_agg((p.place).request_id) as ids from placed p where p.error is not null) t;
    if v_made <> '{}' then
      v_slow := app.insert_stages(v_tenant, v_made, v_hash);
      if v_slow is not null then
        v_slow_jobs := v_slow_jobs || v_slow;
        v_slow_tenants := v_slow_tenants || array_fill(v_tenant, array[cardinality(v_slow)]);
      end if;
    end if;
  end loop;
  select e.tenants, e.job_ids into tenants, ids from app.open_or_end(v_slow_tenants, v_slow_jobs) e;
end $$;
