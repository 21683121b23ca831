-- The attempt at a task that is under way: who holds it and since when, and what its worker said of it with the last heartbeat. Null when
-- nobody holds it.
create or replace function app.running_attempt(stage app.stages, ordinal bigint, machines boolean)
returns json
language plpgsql stable
as $$
begin
  return (
    select json_build_object(
        'attempt', k.attempt, 'claimed_at', k.claimed_at, 'started_at', r.started_at, 'heartbeat_at', r.heartbeat_at, 'elapsed_s', r.elapsed_s,
        'progress', r.progress, 'progress_age_s', r.progress_age_s,
        'worker', app.worker_place(k.worker_id, stage.tenant_id, machines))
      from (
        select * from app.claims c where c.stage_id = stage.stage_id and c.held @> running_attempt.ordinal limit 1) k
      left join lateral (
        select w.heartbeat_at, e.elapsed_s, w.heartbeat_at - make_interval(secs => e.elapsed_s::double precision) as started_at,
            nullif(t -> 'progress', 'null') as progress,
            case when jsonb_typeof(t -> 'progress_age_s') = 'number' then least(greatest((t ->> 'progress_age_s')::numeric, 0), 1e9) end as progress_age_s
          from app.workers w
          cross join lateral jsonb_array_elements(case jsonb_typeof(w.running) when 'array' then w.running else '[]' end) t
          cross join lateral (
            select case when jsonb_typeof(t -> 'elapsed_s') = 'number' then least(greatest((t ->> 'elapsed_s')::numeric, 0), 1e9) else 0 end as elapsed_s) e
         where w.worker_id = k.worker_id and t -> 'claim_id' = to_jsonb(k.claim_id) and t -> 'ordinal' = to_jsonb(running_attempt.ordinal)
         limit 1) r on true);
end $$;
