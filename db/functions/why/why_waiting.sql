-- A task of a stage that is not open: what is left before it, who is slowest there, and why that does not move, if it does not.
create or replace function app.why_waiting(stage app.stages, ordinal bigint)
returns json
language plpgsql stable
as $$
declare
  v_before app.stages;
  v_ledger app.stage_progress;
  v_why json;
begin
  if stage.status = 'waiting_approval' then
    return app.why_approval(stage);
  end if;
  -- The most advanced open stage among all that it waits for, near and far; while it is being planned, itself.
  with recursive upstream as (
    select stage.stage_id, stage.after, stage.status, stage.number
    union
    select s.stage_id, s.after, s.status, s.number
      from upstream u join app.stages s on s.tenant_id = stage.tenant_id and s.job_id = stage.job_id and s.number = any (u.after) and s.closed_at is null
  )
  select s.* into v_before
    from upstream u join app.stages s on s.stage_id = u.stage_id
   where u.status <> 'waiting'
   order by u.number desc
   limit 1;
  if v_before.stage_id is null then
    return app.verdict('UNKNOWN', format('%s waits for stages before it, and none of them is open; this should not happen', app.task_name(stage, ordinal)),
      json_build_object('stage', stage.name, 'waiting_for', stage.waiting_for, 'trouble', (app.job_trouble(stage.tenant_id, stage.job_id)).trouble,
        'janitor', app.janitor_health()), null, null, 'a sweep mends it', app.action('sweep'));
  end if;
  select * into v_ledger from app.stage_progress p where p.stage_id = v_before.stage_id;
  v_why := app.why_stage(v_before);
  return app.verdict('WAITING_STAGE', case
      when v_before.status = 'processing' then format('%s waits for stage "%s": %s of %s tasks are left there', app.task_name(stage, ordinal), v_before.name,
        v_ledger.remaining, v_ledger.total)
      when v_before.stage_id = stage.stage_id then format('%s waits until its stage "%s" is planned', app.task_name(stage, ordinal), stage.name)
      else format('%s waits for stage "%s", which is %s', app.task_name(stage, ordinal), v_before.name, v_before.status)
    end,
    json_build_object('stage', stage.name, 'before', v_before.name, 'left', v_ledger.remaining, 'total', v_ledger.total, 'slowest', app.slowest_running(v_before),
      'there', json_build_object('code', v_why ->> 'code', 'reason', v_why ->> 'reason')),
    v_before.opened_at, (v_why ->> 'heals_at')::timestamptz, 'when that stage has ended', (v_why ->> 'action')::jsonb);
end $$;
