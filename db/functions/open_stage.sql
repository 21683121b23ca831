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
  v_size bigint;
  v_too_wide text;
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
    v_size := app.plan_size(stage, job, v_previous);
    v_inline := v_size <= 1000;
    if v_size < 9223372036854775807 then
      perform app.assert_fan_out(stage, v_size);
    end if;
    if v_inline then
      perform app.plan_by_data(stage, job, v_previous, null);
    end if;
  exception
    when sqlstate 'FF009' then
      -- Whoever is just submitting the job hears of it at once. Later it is the stage that fails.
      if stage.after = '{}' and job.created_at = now() then
        raise;
      end if;
      v_too_wide := sqlerrm;
    when others then
      if left(sqlstate, 2) in ('40', '53', '57', '58') then
        raise;
      end if;
      v_inline := false;
  end;
  if v_too_wide is not null then
    update app.stages set error = jsonb_build_object('code', 'beyond_limit', 'message', v_too_wide) where stage_id = stage.stage_id;
    perform app.close_stage(stage, 'failed', null);
  elsif not v_inline then
    perform app.ask_for_plan(stage, '#plan');
  end if;
end $$;
