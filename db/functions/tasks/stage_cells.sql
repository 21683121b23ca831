-- A whole stage as cells of a few bytes, for src/core/shown/cells.ts, which says what the numbers mean. request: {codes: {status: number},
-- most_cells, read_whole, sample, steps, known?}. `cells` is the columns one after the other: status, duration, attempt, worker;
-- null when nothing has changed since `known`, the header's etag. Reads what waits and runs as ranges, and results by the stage's
-- key; of a stage above `read_whole` tasks only `sample` results of each cell, besides what failed.
create or replace function app.stage_cells(job_id text, stage text, request json, tenant text default null, out header json, out cells bytea)
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_custom_plan
as $$
declare
  -- The last number means several workers.
  c_workers constant integer := 254;
  v_tenant text := app.acting_tenant(tenant);
  v_job app.jobs := app.find_job(v_tenant, stage_cells.job_id);
  v_stage app.stages := app.find_stage(v_job, stage_cells.stage);
  v_completed integer := (request -> 'codes' ->> 'completed')::integer;
  v_skipped integer := (request -> 'codes' ->> 'skipped')::integer;
  v_failed integer := (request -> 'codes' ->> 'failed')::integer;
  v_queued integer := (request -> 'codes' ->> 'queued')::integer;
  v_later integer := (request -> 'codes' ->> 'later')::integer;
  v_retrying integer := (request -> 'codes' ->> 'retrying')::integer;
  v_processing integer := (request -> 'codes' ->> 'processing')::integer;
  v_absent integer := (request -> 'codes' ->> case when v_stage.closed_at is not null then 'cancelled' else 'waiting' end)::integer;
  v_sample integer := (request ->> 'sample')::integer;
  v_steps double precision := (request ->> 'steps')::double precision;
  v_ledger app.stage_progress;
  v_waits record;
  v_runs record;
  v_total bigint;
  v_bin bigint;
  v_cells integer;
  v_sampled boolean;
  v_stamp text;
  v_workers json;
begin
  select * into v_ledger from app.stage_progress p where p.stage_id = v_stage.stage_id;
  v_total := coalesce(v_ledger.total, v_stage.total,
    (select t.ordinal + 1 from app.tasks t where t.stage_id = v_stage.stage_id order by t.ordinal desc limit 1), 0);
  select count(*) as rows, coalesce(sum(q.lo), 0) as los, coalesce(sum(q.hi), 0) as his, coalesce(max(q.ready_id), 0) as last,
      coalesce(sum(q.hi - q.lo), 0) as tasks, coalesce(sum(q.hi - q.lo) filter (where q.attempt > 1 or q.throttles > 0), 0) as retrying,
      coalesce(sum(q.hi - q.lo) filter (where q.attempt = 1 and q.throttles = 0 and q.run_at > now()), 0) as later
    into v_waits
    from app.ready q
   where q.stage_id = v_stage.stage_id and q.hi > 0;
  select count(*) as rows, coalesce(max(k.claim_id), 0) as last, coalesce(sum(app.held_count(k.held)), 0) as tasks
    into v_runs
    from app.claims k
   where k.stage_id = v_stage.stage_id and not k.held @> -1::bigint;
  -- Whatever moves a task moves one of these: the ledger with every result, a range with everything else.
  v_stamp := md5(concat_ws(' ', v_stage.stage_id, v_stage.status, v_stage.epoch, v_stage.opened_at, v_stage.closed_at, v_total, v_ledger,
    v_waits, v_runs));
  v_bin := greatest(1, ceil(v_total::numeric / (request ->> 'most_cells')::integer));
  v_cells := (v_total + v_bin - 1) / v_bin;
  v_sampled := v_total > (request ->> 'read_whole')::bigint;
  if v_stamp is distinct from request ->> 'known' then
    with ended as (
      select (r.ordinal / v_bin)::integer as cell, r.worker_id,
          max(case r.status when 'completed' then v_completed when 'failed' then v_failed else v_skipped end) as code, max(r.attempt) as attempt,
          max(r.duration_ms) as ms, count(*)::integer as n
        from app.results r
       where not v_sampled and r.stage_id = v_stage.stage_id
       group by 1, 2
      union all
      select c, r.worker_id, max(case r.status when 'completed' then v_completed when 'failed' then v_failed else v_skipped end),
          max(r.attempt), max(r.duration_ms),
          -- Enough of them: the rest of the cell is taken to be there too.
          (case when max(r.of) = v_sample then v_bin else max(r.of) end)::integer
        from generate_series(0, case when v_sampled then v_cells - 1 else -1 end) c
        cross join lateral (
          select f.*, count(*) over () as of
            from (
              select q.worker_id, q.status, q.attempt, q.duration_ms
                from app.results q
               where q.stage_id = v_stage.stage_id and q.ordinal >= c * v_bin and q.ordinal < (c + 1) * v_bin
               order by q.ordinal
               limit v_sample) f) r
       group by 1, 2
      union all
      select c, r.worker_id, v_failed, r.attempt, r.duration_ms, 0
        from generate_series(0, case when v_sampled and v_ledger.failed > 0 then v_cells - 1 else -1 end) c
        cross join lateral (
          select q.worker_id, q.attempt, q.duration_ms
            from app.results q
           where q.stage_id = v_stage.stage_id and q.status = 'failed' and q.ordinal >= c * v_bin and q.ordinal < (c + 1) * v_bin
           order by q.ordinal
           limit 1) r
    ),
    held as (
      select c::integer as cell, k.worker_id, v_processing as code, max(k.attempt) as attempt,
          sum((least(upper(h), (c + 1) * v_bin) - greatest(lower(h), c * v_bin))::integer)::integer as n
        from app.claims k
        cross join lateral unnest(k.held) h
        cross join lateral generate_series(lower(h) / v_bin, (upper(h) - 1) / v_bin) c
       where k.stage_id = v_stage.stage_id and not k.held @> -1::bigint
       group by 1, 2
    ),
    queued as (
      select c::integer as cell, max(case
            when q.attempt > 1 or q.throttles > 0 then v_retrying when q.run_at > now() then v_later else v_queued end) as code,
          max(q.attempt) as attempt,
          sum((least(q.hi, (c + 1) * v_bin) - greatest(q.lo, c * v_bin))::integer)::integer as n
        from app.ready q
        cross join lateral generate_series(greatest(q.lo, 0) / v_bin, (q.hi - 1) / v_bin) c
       where q.stage_id = v_stage.stage_id and q.hi > 0
       group by 1
    ),
    workers as (
      select w.worker_id, row_number() over (order by sum(w.n) desc, w.worker_id)::integer as number
        from (select e.worker_id, e.n from ended e union all select h.worker_id, h.n from held h) w
       where w.worker_id is not null
       group by 1
    ),
    shown as (
      select p.cell, max(p.code) as code, max(p.attempt) as attempt, max(p.ms) as ms, sum(p.n) as n,
          coalesce(case when min(w.number) = max(w.number) and min(w.number) <= c_workers then min(w.number)
            when min(w.number) is not null then c_workers + 1 end, 0) as worker
        from (
          select e.cell, e.worker_id, e.code, e.attempt, e.ms, e.n from ended e
          union all
          select h.cell, h.worker_id, h.code, h.attempt, null, h.n from held h
          union all
          select q.cell, null, q.code, q.attempt, null, q.n from queued q) p
        left join workers w on w.worker_id = p.worker_id
       group by p.cell
    )
    select coalesce(string_agg(set_byte('\x00', 0, case
              when coalesce(s.n, 0) < least(v_bin, v_total - c * v_bin) then greatest(coalesce(s.code, 0), v_absent)
              else s.code end), '' order by c)
          || string_agg(set_byte('\x00', 0, case
              when s.ms is null then 0
              else least(255, 1 + round(v_steps * ln(greatest(s.ms, 1)) / ln(2)))::integer end), '' order by c)
          || string_agg(set_byte('\x00', 0, least(coalesce(s.attempt, 0), 255)), '' order by c)
          || string_agg(set_byte('\x00', 0, coalesce(s.worker, 0)), '' order by c), ''),
        (select json_agg(json_build_object('worker_id', w.worker_id,
            'host', (select k.host from app.workers k where k.worker_id = w.worker_id and k.tenant_id = v_tenant)) order by w.number)
           from workers w where w.number <= c_workers)
      into cells, v_workers
      from generate_series(0, v_cells - 1) c
      left join shown s on s.cell = c;
  end if;
  header := json_build_object(
    'etag', v_stamp, 'job_id', v_job.job_id, 'stage_id', v_stage.stage_id, 'stage', v_stage.name, 'number', v_stage.number,
    'status', v_stage.status, 'epoch', v_stage.epoch, 'total', v_total, 'first', 0, 'tasks_per_cell', v_bin, 'cells', v_cells,
    'sampled', case when v_sampled then v_sample end,
    'counts', json_build_object(
      'completed', coalesce(v_ledger.completed, 0), 'skipped', coalesce(v_ledger.skipped, 0), 'failed', coalesce(v_ledger.failed, 0),
      'cancelled', case when v_stage.closed_at is not null then coalesce(v_ledger.remaining, 0) else 0 end,
      'waiting', case when v_stage.closed_at is null
        then greatest(0, coalesce(v_ledger.remaining, v_total) - v_waits.tasks - v_runs.tasks) else 0 end,
      'queued', v_waits.tasks - v_waits.later - v_waits.retrying, 'later', v_waits.later, 'retrying', v_waits.retrying,
      'processing', v_runs.tasks),
    'workers', coalesce(v_workers, '[]'), 'as_of', now());
end $$;
grant execute on function app.stage_cells(text, text, json, text) to fanfold_api, fanfold_admin;
