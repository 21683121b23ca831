-- What live workers said with their last heartbeat that they run of a stage, as far as they hold it: when it started, and whether
-- that is usual. States: overdue (a minute past its time-out), no_progress (it reports progress, and has reported none for a
-- minute or a tenth of its time-out), straggler (three times as long as 95 of 100 others), normal. What a worker writes about
-- itself is read with care: it may be anything.
create or replace function app.running_tasks(stage app.stages)
returns table (
  ordinal bigint, claim_id bigint, worker_id uuid, heartbeat_at timestamptz, started_at timestamptz, elapsed_s numeric,
  progress jsonb, progress_age_s numeric, p95_ms integer, state text)
language plpgsql stable
as $$
declare
  c_least_s constant integer := 10;
  v_p95 integer := app.duration_p95(stage.stage_id);
  v_still_s numeric := greatest(60, coalesce(stage.timeout_s, 1800) / 10.0);
begin
  return query
    select t.ordinal, t.claim_id, t.worker_id, t.heartbeat_at, t.heartbeat_at - make_interval(secs => t.elapsed_s::double precision),
        t.elapsed_s, t.progress, t.progress_age_s, v_p95,
        case
          when t.elapsed_s > coalesce(t.timeout_s, stage.timeout_s) + 60 then 'overdue'
          when t.progress is not null and t.progress_age_s >= v_still_s then 'no_progress'
          when t.elapsed_s >= c_least_s and t.elapsed_s * 1000 > 3 * v_p95 then 'straggler'
          else 'normal'
        end
      from (
        select k.claim_id, k.held, w.worker_id, w.heartbeat_at, nullif(r -> 'progress', 'null') as progress,
          case when jsonb_typeof(r -> 'ordinal') = 'number' and (r ->> 'ordinal')::numeric between -1 and 9007199254740991
            then (r ->> 'ordinal')::numeric::bigint end as ordinal,
          case when jsonb_typeof(r -> 'elapsed_s') = 'number' then least(greatest((r ->> 'elapsed_s')::numeric, 0), 1e9) else 0 end as elapsed_s,
          case when jsonb_typeof(r -> 'timeout_s') = 'number' then (r ->> 'timeout_s')::numeric end as timeout_s,
          case when jsonb_typeof(r -> 'progress_age_s') = 'number' then least(greatest((r ->> 'progress_age_s')::numeric, 0), 1e9) end as progress_age_s
          from app.claims k
          join app.workers w on w.worker_id = k.worker_id and app.is_alive(w)
          cross join lateral jsonb_array_elements(case jsonb_typeof(w.running) when 'array' then w.running else '[]' end) r
         where k.stage_id = stage.stage_id and r -> 'claim_id' = to_jsonb(k.claim_id)
      ) t
     where t.held @> t.ordinal;
end $$;
