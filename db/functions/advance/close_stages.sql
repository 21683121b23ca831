-- Ends stages (outcome null: each that is under way, as its ledger says) and lets their successors wait for one less. The caller holds
-- the jobs' rows and calls advance_jobs afterwards.
create or replace function app.close_stages(stage_ids bigint[], outcome app.stage_status default null, why_skipped text default null)
returns void
language plpgsql
as $$
declare
  v_unusual bigint[];
  v_unplanned bigint[];
begin
  with ending as materialized (
    select s.place, s.stage_id, s.tenant_id, s.job_id, s.number, s.name, p.stage_id is null or s.status = 'planning' as unplanned,
      coalesce(p.total, 0) as total, coalesce(p.completed, 0) as completed, coalesce(p.failed, 0) as failed, coalesce(p.skipped, 0) as skipped,
      case when p.stage_id is not null then jsonb_build_object(
        'completed', p.completed, 'failed', p.failed, 'skipped', p.skipped, 'cancelled', p.remaining) end as summary,
      case
        when close_stages.outcome is not null then close_stages.outcome
        when p.stage_id is null or s.status = 'planning' then 'failed'
        else app.stage_outcome(p.total, p.failed, s.budget_count, s.budget_percent)
      end as outcome,
      p.stage_id is null or s.status = 'planning' or p.is_open or s.replan or s.repaired is not null as unusual, s.importance
      from unnest(stage_ids) u(stage_id)
      cross join lateral (
        select s.ctid as place, s.* from app.stages s
         where s.stage_id = u.stage_id and s.closed_at is null and (close_stages.outcome is not null or s.status in ('planning', 'processing'))
        offset 0) s
      left join lateral (select * from app.stage_progress p where p.stage_id = u.stage_id offset 0) p on true
  ),
  closed as (
    update app.stages s
       set status = e.outcome, skip_reason = why_skipped, opened_at = coalesce(s.opened_at, now()), closed_at = now(), summary = e.summary,
           total = case when e.summary is null then coalesce(s.total, 0) else e.total end
      from ending e
     where s.ctid = e.place
  ),
  released as (
    update app.stages n
       set waiting_for = n.waiting_for - w.closed
      from (
        select f.place, count(*) as closed
          from ending e
          cross join lateral (
            select f.ctid as place from app.stages f
             where f.tenant_id = e.tenant_id and f.job_id = e.job_id and f.status = 'waiting' and e.number = any (f.after)
            offset 0) f
         group by f.place
      ) w
     where n.ctid = w.place
  ),
  noted as (
    insert into app.events (tenant_id, kind, job_id, stage_id, reason, data)
    select e.tenant_id, 'stage.' || e.outcome, e.job_id, e.stage_id, why_skipped,
      jsonb_build_object('stage', e.name, 'total', e.total, 'completed', e.completed, 'failed', e.failed, 'skipped', e.skipped)
      from ending e
     order by e.stage_id
  )
  select array_agg(e.stage_id) filter (where e.unusual or (e.outcome = 'failed' and e.importance = 'critical')),
      array_agg(e.stage_id) filter (where e.unplanned)
    into v_unusual, v_unplanned
    from ending e;
  if v_unusual is not null then
    perform app.close_unusual(v_unusual, v_unplanned, why_skipped is not null);
  end if;
end $$;
