-- What a worker reported on tasks it does not hold (any more), as [[claim, ordinal, reason]]. not_held: refused, and recorded.
-- repeated: the result, or the failed attempt, there is this worker's own of the same attempt, so a finish whose answer was lost
-- is being sent again (or, after a crash of the server forgot a claim, the task ran twice here; either way it is done).
create or replace function app.refuse_late(worker uuid, claims json, items json)
returns jsonb
language sql
as $$
  with late as (
    select i.c, i.o, i.d, n.g, n.a,
      exists (select from app.results r where r.stage_id = n.g and r.ordinal = i.o and r.worker_id = worker and r.attempt = n.a)
      or exists (
        select from app.attempts t
         where t.stage_id = n.g and t.ordinal = i.o and t.worker_id = worker and t.attempt = n.a and t.outcome = 'failed'
           and t.epoch = (select s.epoch from app.stages s where s.stage_id = n.g)) as repeated
      from json_to_recordset(items) as i(c bigint, o bigint, d integer)
      left join json_to_recordset(claims) as n(c bigint, g bigint, a smallint) on n.c = i.c
     where not exists (
       select from app.claims k where k.claim_id = i.c and k.worker_id is not distinct from worker and k.held @> i.o)
  ),
  recorded as (
    insert into app.attempts (tenant_id, stage_id, ordinal, attempt, epoch, outcome, code, message, worker_id, duration_ms)
    select s.tenant_id, s.stage_id, l.o, coalesce(l.a, 1), s.epoch, 'refused', 'not_held', 'finished by a worker that no longer held it',
      worker, l.d
      from late l
      join app.stages s on s.stage_id = l.g and s.tenant_id = coalesce(app.worker_tenant(), s.tenant_id)
     where not l.repeated
  )
  select coalesce(jsonb_agg(jsonb_build_array(l.c, l.o, case when l.repeated then 'repeated' else 'not_held' end) order by l.c, l.o), '[]')
    from late l
$$;
