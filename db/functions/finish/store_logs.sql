-- Appends what handlers logged. Only the worker that holds a task may log for it.
-- lines: [{c, o, a: attempt, ms: milliseconds ago, level, message, data}]
create or replace function app.store_logs(worker uuid, lines json)
returns bigint
language sql
as $$
  with written as (
    insert into app.task_logs (tenant_id, stage_id, ordinal, attempt, at, level, message, data)
    select k.tenant_id, k.stage_id, l.o, l.a, now() - make_interval(secs => greatest(l.ms, 0) / 1000.0),
      case when l.level in ('debug', 'info', 'warn', 'error') then l.level else 'info' end, left(l.message, 8192), l.data
      from json_to_recordset(lines) as l(c bigint, o bigint, a smallint, ms double precision, level text, message text, data jsonb)
      cross join lateral (select * from app.claims k where k.claim_id = l.c offset 0) k
     where k.worker_id = worker and k.held @> l.o
    returning 1
  )
  select count(*) from written
$$;
