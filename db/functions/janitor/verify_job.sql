-- Proves a job from its rows, at any moment: one snapshot, every stage. {job_id, status, stages: [{stage, total, ready, claims,
-- completed, failed, skipped, absent, problems}], spills: page of files to check, spill_count: of all pages, asset_count: files in zones, which
-- nobody reads here}. `after` pages through the spilled results.
create or replace function app.verify_job(job_id text, tenant text default null, after json default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set jit = off
as $$
declare
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), verify_job.job_id);
  v_stages json;
  v_problems json;
  v_spills json;
begin
  -- Further pages are of files only.
  if verify_job.after is null then
    select json_agg(json_build_object(
        'number', s.number, 'stage', s.name, 'status', s.status, 'total', coalesce(p.total, s.total, 0),
        'ready', q.n, 'claims', h.n, 'completed', coalesce(p.completed, 0), 'failed', coalesce(p.failed, 0), 'skipped', coalesce(p.skipped, 0),
        'absent', case when s.closed_at is not null then coalesce(p.remaining, 0) else 0 end,
        'problems', array(select v from app.verify_stage(s.stage_id) v limit 20)) order by s.number)
      into v_stages
      from app.stages s
      left join app.stage_progress p on p.stage_id = s.stage_id
      cross join lateral (select coalesce(sum(r.hi - r.lo), 0) as n from app.ready r where r.stage_id = s.stage_id and r.lo >= 0) q
      cross join lateral (
        select coalesce(sum(app.held_count(k.held)), 0) as n from app.claims k where k.stage_id = s.stage_id and not k.held @> -1::bigint) h
     where s.tenant_id = v_job.tenant_id and s.job_id = v_job.job_id;
  end if;
  select json_agg(t) into v_problems
    from (
      select case
          when v_job.finished_at is null and not exists (
            select from app.stages s where s.tenant_id = v_job.tenant_id and s.job_id = v_job.job_id and s.closed_at is null)
            then 'the job is open and none of its stages is'
          when v_job.finished_at is not null and exists (
            select from app.stages s where s.tenant_id = v_job.tenant_id and s.job_id = v_job.job_id and s.closed_at is null)
            then 'the job has ended and a stage of it is open'
        end as t) one
   where t is not null;
  select coalesce(json_agg(json_build_object('stage_id', x.stage_id, 'ordinal', x.ordinal, 'spill', x.spill) order by x.stage_id, x.ordinal), '[]')
    into v_spills
    from (
      select r.stage_id, r.ordinal, r.spill
        from app.stages s
        join app.results r on r.stage_id = s.stage_id
       where s.tenant_id = v_job.tenant_id and s.job_id = v_job.job_id and r.spill is not null
         and (verify_job.after is null or (r.stage_id, r.ordinal) > ((verify_job.after ->> 0)::bigint, (verify_job.after ->> 1)::bigint))
       order by r.stage_id, r.ordinal
       limit 500) x;
  return json_build_object('job_id', v_job.job_id, 'job_type', v_job.job_type, 'status', v_job.status, 'epoch', v_job.epoch,
    'problems', coalesce(v_problems, '[]'), 'stages', v_stages, 'spills', v_spills,
    'spill_count', case when verify_job.after is null then (
      select count(*) from app.stages s join app.results r on r.stage_id = s.stage_id
       where s.tenant_id = v_job.tenant_id and s.job_id = v_job.job_id and r.spill is not null) end,
    'asset_count', case when verify_job.after is null then (
      select count(*) from app.assets a where a.tenant_id = v_job.tenant_id and a.job_id = v_job.job_id and a.retracted_at is null) end);
end $$;
grant execute on function app.verify_job(text, text, json) to fanfold_api, fanfold_admin;
