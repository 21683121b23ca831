-- A stage seen by what is held of it: RUNNING when a task finished within half a minute or one is held as it should be; else, and where
-- nobody who holds any of it is heard, the first thing that is wrong with what is held; null when nothing is held. Tasks claimed
-- ahead wait behind those that run, so what runs as usual speaks for them.
create or replace function app.why_held_of(stage app.stages)
returns json
language plpgsql stable
as $$
declare
  v_last timestamptz;
  v_found record;
  v_claim app.claims;
  v_counts json;
begin
  -- What a stage that is planned again finished before is no sign of its planning.
  select max(l.finished_at) into v_last
    from (select r.finished_at from app.results r where r.stage_id = stage.stage_id order by r.ordinal desc limit 10000) l
   where stage.status = 'processing';
  with heard as materialized (
    select k.claim_id, k.held, case when not app.is_alive(w) then 0 when app.silent_s(w) is not null then 0.5 when app.has_not_started(k, w) then 5 else 6 end as at
      from app.claims k
      left join app.workers w on w.worker_id = k.worker_id
     where k.stage_id = stage.stage_id
  ),
  running as materialized (
    select r.* from app.running_tasks(stage) r join heard h on h.claim_id = r.claim_id and h.at > 1
  ),
  seen as (
    select r.claim_id, r.ordinal, array_position(array['overdue', 'no_progress', 'straggler', 'normal'], r.state) as at from running r
    union all
    select h.claim_id, lower(h.held), h.at from heard h where not exists (select from running r where r.claim_id = h.claim_id)
  )
  select s.claim_id, s.ordinal, bool_or(s.at in (4, 6)) over () as moves, bool_and(s.at < 1) over () as unheard into v_found
    from seen s
   -- The order in which reasons are told: lease over, silent, overdue, not started, no progress, straggler.
   order by case s.at when 5 then 1.5 else s.at end, s.claim_id, s.ordinal
   limit 1;
  if not coalesce(v_found.moves, false) and (coalesce(v_found.unheard, false) or not coalesce(v_last > now() - interval '30 seconds', false)) then
    if v_found.claim_id is null then
      return null;
    end if;
    select * into v_claim from app.claims k where k.claim_id = v_found.claim_id;
    return app.why_held(stage, v_claim, v_found.ordinal);
  end if;
  v_counts := app.stage_counts(stage);
  return app.verdict('RUNNING', case
      when stage.status = 'planning' then 'stage "' || stage.name || '" is being planned by a live worker'
      else format('stage "%s" moves: %s of %s tasks completed, %s held by workers, %s queued', stage.name, v_counts ->> 'completed',
        v_counts ->> 'total', v_counts ->> 'held', v_counts ->> 'queued')
    end,
    json_build_object('last_finished_at', v_last, 'slowest', app.slowest_running(stage)), stage.opened_at);
end $$;
