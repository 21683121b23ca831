-- Closes, set by set, stages whose every task completed and after which their job either ends completed or goes on with one
-- plain stage. Returns the stages that need the long way. The caller holds the jobs' rows; the long way gives the same outcome.
create or replace function app.close_plainly(closing bigint[])
returns bigint[]
language plpgsql
as $$
declare
  v_closed bigint[];
  v_next bigint[];
  v_ending bigint[];
  v_tenants text[];
  v_jobs text[];
begin
  select array_agg(f.stage_id), array_agg(f.next) filter (where f.next is not null), array_agg(f.stage_id) filter (where f.next is null)
    into v_closed, v_next, v_ending
    from (
      select c.stage_id, case when around.open = 1 then around.next end as next
        from unnest(closing) u(stage_id)
        cross join lateral (select * from app.stages s where s.stage_id = u.stage_id offset 0) c
        cross join lateral (select * from app.stage_progress p where p.stage_id = u.stage_id offset 0) ledger
        cross join lateral (
          select
            count(*) filter (where o.closed_at is null) as open,
            bool_and(o.status = 'completed') filter (where o.closed_at is not null) as all_well,
            max(o.stage_id) filter (where o.status = 'waiting' and o.waiting_for = 1 and o.after = array[c.number] and app.is_plain(o)) as next
            from app.stages o
           where o.tenant_id = c.tenant_id and o.job_id = c.job_id and o.stage_id <> c.stage_id
        ) around
       where ledger.completed = ledger.total and c.status = 'processing' and c.repaired is null
         and ((around.open = 0 and around.all_well is not false) or (around.open = 1 and around.next is not null))
    ) f;
  if v_closed is null then
    return closing;
  end if;
  update app.stages s
     set status = 'completed', closed_at = now(), summary = jsonb_build_object('completed', s.total, 'failed', 0, 'skipped', 0)
   where s.stage_id = any (v_closed);
  insert into app.events (tenant_id, kind, job_id, stage_id, data)
  select s.tenant_id, 'stage.completed', s.job_id, s.stage_id,
    jsonb_build_object('stage', s.name, 'total', s.total, 'completed', s.total, 'failed', 0, 'skipped', 0)
    from app.stages s
   where s.stage_id = any (v_closed);
  perform app.start_plain(v_next);
  with ended as (
    update app.jobs j
       set status = 'completed', started_at = coalesce(j.started_at, now()), finished_at = now(),
           paused_at = null, paused_by = null, pause_reason = null
     where j.ctid = any (array(
       select q.place
         from unnest(v_ending) u(stage_id)
         cross join lateral (select * from app.stages s where s.stage_id = u.stage_id offset 0) s
         cross join lateral (select q.ctid as place from app.jobs q where q.tenant_id = s.tenant_id and q.job_id = s.job_id offset 0) q))
    returning j.tenant_id, j.job_id
  ),
  told as (
    insert into app.events (tenant_id, kind, job_id) select e.tenant_id, 'job.completed', e.job_id from ended e
  )
  select array_agg(e.tenant_id), array_agg(e.job_id) into v_tenants, v_jobs from ended e;
  if v_jobs is not null then
    perform app.jobs_ended(v_tenants, v_jobs);
  end if;
  return array(select c from unnest(closing) c where c <> all (v_closed));
end $$;
