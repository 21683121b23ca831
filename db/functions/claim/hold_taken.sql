-- Makes claims of what was taken, and returns what the worker needs to run them, without the facts of stages it knows already, unless these
-- were opened again since: repair may have changed what comes before them. Tasks are reached by key range; `offset 0` keeps the planner from
-- turning that into a join over the whole table.
create or replace function app.hold_taken(worker uuid, taken app.taken_range[], known bigint[], out claims json, out stages json)
language plpgsql
as $$
declare
  v_stages bigint[];
begin
  with made as (
    insert into app.claims (stage_id, worker_id, tenant_id, task_type, priority, attempt, crashes, throttles, task_bytes, held)
    select r.stage_id, worker, r.tenant_id, r.task_type, r.priority, r.attempt, r.crashes, r.throttles, max(r.task_bytes),
      range_agg(int8range(r.lo, r.hi))
      from unnest(taken) with ordinality as r(
        stage_id, lo, hi, tenant_id, task_type, priority, attempt, crashes, throttles, task_bytes, position)
     group by r.stage_id, r.tenant_id, r.task_type, r.priority, r.attempt, r.crashes, r.throttles
     -- A worker starts them in this order: small work is not behind wide.
     order by min(r.position)
    returning claim_id, stage_id, attempt, crashes, held
  )
  select
    json_agg(json_build_object(
      'claim_id', c.claim_id, 'stage_id', c.stage_id, 'attempt', c.attempt, 'crashes', c.crashes,
      'tasks', case
        when c.held = '{[-1,0)}' then '[[-1,null,null,null]]'::json
        else (
          select coalesce(json_agg(t.item), '[]')
            from unnest(c.held) r
            cross join lateral (
              select json_build_array(t.ordinal, t.index, t.parameters, t.metadata) as item
                from app.tasks t
               where t.stage_id = c.stage_id and t.ordinal >= lower(r) and t.ordinal < upper(r)
               order by t.ordinal
              offset 0
            ) t)
      end)),
    array_agg(c.stage_id)
    into claims, v_stages
    from made c;
  perform app.mark_started(array(select distinct r.stage_id from unnest(taken) r where r.lo <= 0 and r.attempt = 1));
  v_stages := array(
    select u from unnest(v_stages) u
     where u <> all (known) or exists (select from app.stages s where s.stage_id = u and s.epoch > 1));
  stages := case when v_stages = '{}' then '[]'::json else app.stage_facts(v_stages) end;
end $$;
