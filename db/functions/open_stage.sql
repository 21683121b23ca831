-- Opens one stage whose predecessors have all ended: skips it, asks a person, plans it here and now when that is cheap, or asks
-- a worker. A stage that ran before is opened for repair. The caller holds the job's row.
create or replace function app.open_stage(stage app.stages, job app.jobs)
returns void
language plpgsql
as $$
declare
  v_decision text := 'open';
  v_previous app.stages;
  v_inline boolean;
begin
  if stage.after <> '{}' then
    select app.opening_decision(array_agg(p.status), array_agg(p.importance), array_agg(p.skip_reason))
      into v_decision
      from app.stages p
     where p.tenant_id = stage.tenant_id and p.job_id = stage.job_id and p.number = any (stage.after);
    select * into v_previous
      from app.stages p
     where p.tenant_id = stage.tenant_id and p.job_id = stage.job_id and p.number = stage.of_number;
  end if;
  -- A stage that ran before met its condition then, and its results stand.
  if v_decision = 'open' and stage.condition ? 'path' and stage.total is null then
    begin
      v_decision := case when app.stage_condition(stage, job) then 'open' else 'when' end;
    exception
      when others then
        if left(sqlstate, 2) in ('40', '53', '57', '58') then
          raise;
        end if;
        -- The condition is at fault, not whoever finished the stage before: this stage fails, and says why.
        update app.stages
           set error = jsonb_build_object('code', 'bad_condition', 'message', 'its condition cannot be evaluated: ' || sqlerrm)
         where stage_id = stage.stage_id;
        perform app.close_stage(stage, 'failed', null);
        return;
    end;
  end if;
  if v_decision <> 'open' then
    perform app.close_stage(stage, 'skipped', v_decision);
    return;
  end if;
  if stage.gate is not null and stage.decision is null then
    perform app.ask_for_approval(stage, job);
    return;
  end if;
  if stage.total is not null and not stage.replan then
    perform app.reopen_stage(stage, job);
    return;
  end if;
  -- A function is code: only a worker that registered the blueprint has it.
  if stage.plan ? 'function' or stage.condition ? 'function' then
    perform app.ask_for_plan(stage, '#plan:' || job.job_type);
    return;
  end if;
  if stage.plan is null and stage.total is null and (stage.parallelism = 'single' or (stage.parallelism = 'fan_in' and stage.batch is null)) then
    insert into app.tasks (stage_id, ordinal, tenant_id) values (stage.stage_id, 0, stage.tenant_id);
    perform app.start_stage(stage, 1, 0, '{[0,1)}', 0);
    return;
  end if;
  -- A data plan that may fail is tried in a subtransaction: its error must cost this stage and not the finish that opened it.
  begin
    v_inline := app.plan_size(stage, job, v_previous) <= 1000;
    if v_inline then
      perform app.plan_by_data(stage, job, v_previous, null);
    end if;
  exception
    when others then
      if left(sqlstate, 2) in ('40', '53', '57', '58') then
        raise;
      end if;
      v_inline := false;
  end;
  if not v_inline then
    perform app.ask_for_plan(stage, '#plan');
  end if;
end $$;
