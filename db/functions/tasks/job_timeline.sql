-- A job over time: its stages, and of each so many tasks with all their runs. request: {tenant?, job_id, stage?, from?, to?, most?,
-- retried?, machines?}. With a stage, the others come with one task each, the one they waited for. No stage is read beyond 100,000
-- tasks, and no call beyond 300,000: of wider ones every n-th task speaks for all, and looked_at says so.
create or replace function app.job_timeline(request json)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  c_stage_rows constant integer := 100000;
  c_least_rows constant integer := 2000;
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_job app.jobs := app.find_job(v_tenant, request ->> 'job_id');
  v_only app.stages;
  v_since timestamptz := (request ->> 'from')::timestamptz;
  v_until timestamptz := (request ->> 'to')::timestamptz;
  v_retried boolean := coalesce((request ->> 'retried')::boolean, false);
  v_machines boolean := coalesce((request ->> 'machines')::boolean, false) and app.is_server();
  v_left integer := least(greatest(coalesce((request ->> 'most')::integer, 600), 1), 2000);
  v_budget integer := 300000;
  v_end timestamptz := coalesce(v_job.finished_at, now());
  v_stage app.stages;
  v_stages_left integer;
  v_share integer;
  v_ordinals bigint[];
  v_looked bigint;
  v_last bigint;
  v_median integer;
  v_p95 integer;
  v_bins json;
  v_stages json[] := '{}'::json[];
begin
  if request ->> 'stage' is not null then
    v_only := app.find_stage(v_job, request ->> 'stage');
  end if;
  v_stages_left := case when v_only.stage_id is not null then 1 else (
    select count(*) from app.stages s where s.tenant_id = v_tenant and s.job_id = v_job.job_id) end;
  -- The narrow ones first: what they do not need is left to the wide ones.
  for v_stage in
    select s.* from app.stages s
     where s.tenant_id = v_tenant and s.job_id = v_job.job_id
     order by coalesce(s.total, 0), s.number
     limit 500
  loop
    v_ordinals := '{}'::bigint[];
    v_looked := 0;
    v_last := null;
    v_median := null;
    v_p95 := null;
    v_bins := null;
    if coalesce(v_stage.total, 0) > 0 then
      v_share := greatest(1, v_left / greatest(v_stages_left, 1));
      select c.ordinals, c.looked_at, c.last_ordinal, c.median_ms, c.p95_ms, c.bins
        into v_ordinals, v_looked, v_last, v_median, v_p95, v_bins
        from app.timeline_choice(v_stage, v_share, least(c_stage_rows, greatest(v_budget, c_least_rows)), v_since, v_until,
          v_retried, coalesce(v_since, v_job.created_at), coalesce(v_until, v_end)) c;
      v_budget := v_budget - v_looked::integer;
      if v_only.stage_id <> v_stage.stage_id then
        v_bins := null;
        v_ordinals := array(select v_last where v_last is not null);
      end if;
    end if;
    if v_only.stage_id is null or v_only.stage_id = v_stage.stage_id then
      v_left := v_left - cardinality(v_ordinals);
      v_stages_left := v_stages_left - 1;
    end if;
    v_stages := v_stages || json_build_object(
      'stage_id', v_stage.stage_id, 'number', v_stage.number, 'name', v_stage.name, 'task_type', v_stage.task_type, 'status', v_stage.status,
      'after', array_to_json(v_stage.after), 'total', v_stage.total, 'epoch', v_stage.epoch,
      'opened', app.ms_after(v_job.created_at, v_stage.opened_at), 'closed', app.ms_after(v_job.created_at, v_stage.closed_at),
      'approved', case when app.is_time(v_stage.decision ->> 'at') then app.ms_after(v_job.created_at, (v_stage.decision ->> 'at')::timestamptz) end,
      'looked_at', v_looked, 'last_ordinal', v_last, 'median_ms', v_median, 'p95_ms', v_p95, 'bins', v_bins,
      'tasks', app.timeline_bars(v_stage, v_ordinals, v_job.created_at));
  end loop;
  return json_build_object(
    'job_id', v_job.job_id, 'job_type', v_job.job_type, 'status', v_job.status, 'origin', v_job.created_at,
    'now', app.ms_after(v_job.created_at, now()), 'started', app.ms_after(v_job.created_at, v_job.started_at),
    'finished', app.ms_after(v_job.created_at, v_job.finished_at),
    'from', app.ms_after(v_job.created_at, coalesce(v_since, v_job.created_at)), 'to', app.ms_after(v_job.created_at, coalesce(v_until, v_end)),
    'stages', array_to_json(v_stages),
    'workers', (
      select coalesce(json_agg(app.worker_place(w.worker_id, v_tenant, v_machines)), '[]')
        from (
          select distinct (x #>> '{}')::uuid as worker_id
            from jsonb_path_query(array_to_json(v_stages)::jsonb, '$[*].tasks[*].runs[*].worker_id ? (@ != null)') x
           order by 1) w));
end $$;
grant execute on function app.job_timeline(json) to fanfold_api, fanfold_admin;
