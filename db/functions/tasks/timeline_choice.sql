-- Which tasks of a stage a timeline shows, and what the others come to. All of them when they are no more than `most`; else the slowest,
-- the last to finish, the failed, the most often tried, and those that run or wait. `retried`: only tasks that were tried more than once.
-- Within [since, until] where those are given. The bins count what started, ended and failed in each 1/240 of [bins_from, bins_to].
create or replace function app.timeline_choice(
  stage app.stages, most integer, budget integer, since timestamptz, until timestamptz, retried boolean, bins_from timestamptz, bins_to timestamptz,
  out ordinals bigint[], out looked_at bigint, out last_ordinal bigint, out median_ms integer, out p95_ms integer, out bins json)
language plpgsql stable
as $$
declare
  c_bins constant integer := 240;
  v_total bigint := coalesce(stage.total, 0);
  v_part integer := greatest(1, most / 4);
  v_width double precision := greatest(date_part('epoch', bins_to - bins_from), 0.001) / c_bins;
  v_open bigint;
begin
  with seen as materialized (
    select * from app.seen_results(stage, budget)
  ),
  near as materialized (
    select * from seen s
     where (since is null or s.finished_at >= since) and (until is null or s.started_at <= until) and s.status in ('completed', 'failed')
  ),
  binned as materialized (
    select b.n::integer as n,
        count(*) filter (where b.is_start) as started, count(*) filter (where not b.is_start) as ended,
        count(*) filter (where not b.is_start and b.status = 'failed') as failed
      from (
        -- A window may be narrow and years away: such a number is no integer, and in no bin.
        select floor(date_part('epoch', s.started_at - bins_from) / v_width) as n, true as is_start, s.status from seen s
         where s.duration_ms is not null
        union all
        select floor(date_part('epoch', s.finished_at - bins_from) / v_width), false, s.status from seen s
         where s.duration_ms is not null) b
     where b.n between 0 and c_bins
     group by b.n
  )
  select (select count(*) from seen),
      (select s.ordinal from seen s where s.status in ('completed', 'failed') order by s.finished_at desc, s.ordinal limit 1),
      p.halves[1], p.halves[2],
      case when v_total > most then (
        select json_build_object('started', json_agg(coalesce(b.started, 0) order by g.n), 'ended', json_agg(coalesce(b.ended, 0) order by g.n),
            'failed', json_agg(coalesce(b.failed, 0) order by g.n))
          from generate_series(0, c_bins - 1) g(n)
          left join lateral (
            -- What ends with the window belongs to its last part.
            select sum(x.started) as started, sum(x.ended) as ended, sum(x.failed) as failed
              from binned x where x.n = g.n or (g.n = c_bins - 1 and x.n = c_bins)) b on true) end,
      case when v_total > most and not retried then array(
        select distinct c.ordinal
          from (
            (select n.ordinal from near n where n.duration_ms is not null order by n.duration_ms desc, n.ordinal limit v_part)
            union all (select n.ordinal from near n order by n.finished_at desc, n.ordinal limit v_part)
            union all (select n.ordinal from near n where n.attempt > 1 order by n.attempt desc, n.ordinal limit v_part)) c) end
    into looked_at, last_ordinal, median_ms, p95_ms, bins, ordinals
    from (
      select percentile_disc(array[0.5, 0.95]) within group (order by s.duration_ms) as halves
        from seen s where s.status = 'completed' and s.duration_ms is not null) p;

  if stage.closed_at is null then
    -- What an open stage waits for: what has run longest, else what may run last.
    v_open := coalesce(
      (select greatest(lower(k.held), 0) from app.claims k where k.stage_id = stage.stage_id and not k.held @> -1::bigint
        order by k.claimed_at, k.claim_id limit 1),
      (select r.lo from app.ready r where r.stage_id = stage.stage_id and r.lo >= 0 order by r.run_at desc, r.ready_id desc limit 1));
    last_ordinal := coalesce(v_open, last_ordinal);
  end if;

  if retried then
    ordinals := array(
      select distinct a.ordinal
        from (
          select t.ordinal from app.attempts t
           where t.stage_id = stage.stage_id and t.ordinal >= 0
           order by t.ordinal limit 20000) a
       order by a.ordinal
       limit most);
  elsif v_total <= most then
    ordinals := array(select o from generate_series(0, v_total - 1) o);
  else
    ordinals := array(
      select distinct c.o
        from (
          select unnest(timeline_choice.ordinals) as o
          union all (
            select r.ordinal from app.results r
             where r.stage_id = stage.stage_id and r.status = 'failed' and (since is null or r.finished_at >= since)
             order by r.ordinal limit v_part)
          union all (
            select o
              from (select k.held from app.claims k where k.stage_id = stage.stage_id order by k.claimed_at, k.claim_id limit v_part) k
              cross join lateral unnest(k.held) h
              cross join lateral generate_series(greatest(lower(h), 0), least(upper(h), lower(h) + v_part) - 1) o
             limit v_part)
          union all (
            -- Those that were tried before, and one of each of the others that wait.
            select r.lo from app.ready r
             where r.stage_id = stage.stage_id and r.lo >= 0
             order by r.attempt desc, r.run_at, r.ready_id limit v_part)) c);
    -- Each part may be full.
    ordinals := ordinals[1:most];
  end if;
  if last_ordinal is not null and not last_ordinal = any (ordinals) then
    ordinals := ordinals || last_ordinal;
  end if;
end $$;
