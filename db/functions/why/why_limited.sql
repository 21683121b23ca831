-- A limit that is reached: of the tenant, then of the stage, counted as a claim counts it; null when none is.
create or replace function app.why_limited(stage app.stages, ordinal bigint)
returns json
language plpgsql stable
as $$
declare
  v_limit bigint;
  v_held bigint;
begin
  select l.concurrent_tasks into v_limit from app.limits l where l.tenant_id = stage.tenant_id;
  select coalesce(sum(app.held_count(k.held)), 0) into v_held from app.claims k where k.tenant_id = stage.tenant_id and v_limit is not null;
  if v_held >= v_limit then
    return app.verdict('TENANT_LIMIT', format('tenant "%s" may have %s tasks in hand at once, and has %s', stage.tenant_id, v_limit, v_held),
      json_build_object('concurrent_tasks', v_limit, 'held', v_held, 'holders', (
        select json_agg(json_build_object('job_id', h.job_id, 'stage', h.name, 'task_type', h.task_type, 'held', h.held,
            'oldest_claim_at', h.oldest) order by h.held desc, h.stage_id)
          from (
            select s.stage_id, s.job_id, s.name, s.task_type, sum(app.held_count(k.held)) as held, min(k.claimed_at) as oldest
              from app.claims k join app.stages s on s.stage_id = k.stage_id
             where k.tenant_id = stage.tenant_id
             group by s.stage_id
             order by 5 desc, 1
             limit 5) h)),
      null, null, 'when one of them ends; or an administrator raises the limit: select app.set_limits(''' || stage.tenant_id || ''', …)', null);
  end if;
  if ordinal >= 0 and stage.total > stage.max_parallel then
    select coalesce(sum(app.held_count(k.held)), 0) into v_held from app.claims k where k.stage_id = stage.stage_id;
    if v_held >= stage.max_parallel then
      return app.verdict('STAGE_LIMIT', format('at most %s tasks of stage "%s" run at once, and %s are held', stage.max_parallel, stage.name, v_held),
        json_build_object('stage', stage.name, 'max_parallel', stage.max_parallel, 'held', v_held, 'slowest', app.slowest_running(stage)),
        null, null, 'when one of them ends', null);
    end if;
  end if;
  return null;
end $$;
