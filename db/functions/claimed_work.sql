-- What a worker needs to run the claims it just made. Tasks are reached by key range; `offset 0` keeps the planner from
-- turning that into a join over the whole table.
create or replace function app.claimed_work(claim_ids bigint[], served text)
returns json
language plpgsql
as $$
begin
  return (
    select json_build_object(
      'after_tenant', served,
      'claims', (
        select json_agg(json_build_object(
            'claim_id', c.claim_id, 'stage_id', c.stage_id, 'attempt', c.attempt, 'crashes', c.crashes,
            'tasks', case
              when c.held = '{[-1,0)}' then '[[-1,null,null,null]]'::json
              else (
                select json_agg(t.item)
                  from unnest(c.held) r
                  cross join lateral (
                    select json_build_array(t.ordinal, t.index, t.parameters, t.metadata) as item
                      from app.tasks t
                     where t.stage_id = c.stage_id and t.ordinal >= lower(r) and t.ordinal < upper(r)
                     order by t.ordinal
                    offset 0
                  ) t)
            end))
          from app.claims c
         where c.claim_id = any (claim_ids)),
      'stages', (
        select json_agg(json_build_object(
            'stage_id', s.stage_id, 'tenant_id', s.tenant_id, 'job_id', s.job_id, 'job_type', j.job_type, 'stage', s.name,
            'number', s.number, 'task_type', s.task_type, 'timeout_s', s.timeout_s, 'max_attempts', s.max_attempts,
            'parallelism', s.parallelism, 'batch', s.batch, 'parameters', j.parameters, 'correlation_id', j.correlation_id,
            'planner', case when s.plan ? 'function' or s.condition ? 'function' then 'function' else 'data' end,
            'of', s.of_number,
            'previous', case when s.after = '{}' then '[]'::json else (
              select json_agg(json_build_object('number', p.number, 'name', p.name, 'stage_id', p.stage_id, 'total', p.total, 'status', p.status))
                from app.stages p
               where p.tenant_id = s.tenant_id and p.job_id = s.job_id and p.number = any (s.after)) end))
          from (select distinct c.stage_id from app.claims c where c.claim_id = any (claim_ids)) u
          cross join lateral (select * from app.stages s where s.stage_id = u.stage_id offset 0) s
          left join lateral (select * from app.jobs j where j.tenant_id = s.tenant_id and j.job_id = s.job_id offset 0) j on true)));
end $$;
