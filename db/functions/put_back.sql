-- Ranges of a claim become ready again. A stage that has closed meanwhile takes nothing back.
create or replace function app.put_back(claim app.claims, ranges int8multirange, further_crashes integer)
returns void
language plpgsql
as $$
begin
  insert into app.ready (stage_id, lo, hi, tenant_id, task_type, priority, attempt, crashes, throttles, task_bytes)
  select claim.stage_id, lower(r), upper(r), claim.tenant_id, claim.task_type, claim.priority, claim.attempt,
    claim.crashes + further_crashes, claim.throttles, claim.task_bytes
    from unnest(ranges) r
   where exists (select from app.stages s where s.stage_id = claim.stage_id and s.closed_at is null);
end $$;
