-- Opens whatever of these jobs may open now, and ends those of which nothing is left open. Returns those that ended: the caller does what
-- follows from that (jobs_ended). Jobs that wait for others open nothing. Stages open by ascending number, in rounds: the plain ones of all
-- jobs together, up to one that takes more than that (open_stage). The caller holds the jobs' rows.
create or replace function app.open_or_end(inout tenants text[], inout job_ids text[])
language plpgsql
as $$
declare
  v_tenants text[] := tenants;
  v_jobs text[] := job_ids;
  v_plain bigint[];
  v_slow bigint[];
  v_ended_tenants text[];
  v_ended text[];
  v_stage app.stages;
  v_job app.jobs;
begin
  tenants := '{}'::text[];
  job_ids := '{}'::text[];
  loop
    with looked as materialized (
      select j.place, l.*
        from unnest(v_tenants, v_jobs) as a(tenant_id, job_id)
        cross join lateral (
          select q.ctid as place, q.finished_at, q.waits_for from app.jobs q where q.tenant_id = a.tenant_id and q.job_id = a.job_id offset 0) j
        cross join lateral (
          select
            array_agg(s.stage_id) filter (where s.plain) as plain,
            min(s.stage_id) filter (where not s.plain) as slow,
            case
              when bool_and(s.status = 'completed') then app.job_status 'completed'
              when bool_and(s.closed_at is not null) then app.job_outcome(array_agg(s.status), array_agg(s.importance))
            end as outcome
            from (
              select s.*, case when s.status = 'waiting' and s.waiting_for = 0 then
                  s.total is null and app.is_plain(s.parallelism, s.batch, s.plan, s.condition, s.gate) and not exists (
                    select from app.stages p
                     where p.tenant_id = s.tenant_id and p.job_id = s.job_id and p.number = any (s.after) and p.status <> 'completed') end as plain
                from app.stages s
               where s.tenant_id = a.tenant_id and s.job_id = a.job_id
            ) s
        ) l
       where j.finished_at is null and j.waits_for = 0
    ),
    ended as (
      update app.jobs j
         set status = l.outcome, started_at = coalesce(j.started_at, now()), finished_at = now(),
             paused_at = null, paused_by = null, pause_reason = null,
             error = case when l.outcome <> 'completed' then app.job_error(j.tenant_id, j.job_id) end
        from looked l
       where j.ctid = l.place and l.outcome is not null
      returning j.tenant_id, j.job_id, j.status
    ),
    noted as (
      insert into app.events (tenant_id, kind, job_id, audit)
      select e.tenant_id, 'job.' || e.status, e.job_id, case when e.status = 'cancelled' then true end from ended e
    )
    select array(select p from looked l, unnest(l.plain) p where l.slow is null or p < l.slow order by p),
        array(select l.slow from looked l where l.slow is not null order by l.slow), e.tenants, e.job_ids
      into v_plain, v_slow, v_ended_tenants, v_ended
      from (select array_agg(e.tenant_id) as tenants, array_agg(e.job_id) as job_ids from ended e) e;
    tenants := tenants || v_ended_tenants;
    job_ids := job_ids || v_ended;
    if v_plain <> '{}' then
      perform app.start_stages(v_plain, 1);
    end if;
    exit when v_slow = '{}';
    v_tenants := '{}'::text[];
    v_jobs := '{}'::text[];
    for v_stage in select * from app.stages s where s.stage_id = any (v_slow) order by s.stage_id loop
      select * into v_job from app.jobs j where j.tenant_id = v_stage.tenant_id and j.job_id = v_stage.job_id;
      perform app.open_stage(v_stage, v_job);
      v_tenants := v_tenants || v_job.tenant_id;
      v_jobs := v_jobs || v_job.job_id;
    end loop;
  end loop;
end $$;
