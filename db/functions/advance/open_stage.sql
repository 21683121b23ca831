-- Opens one stage whose predecessors have all ended: skips it, asks a person, plans it here and now when that is cheap, or asks
-- a worker. A stage that ran before is opened for repair. The caller holds the job's row.
create or replace function app.open_stage(stage app.stages, job app.jobs)
returns void
language plpgsql
as $$
declare
  -- What may be looked at here, once for each step of a path: some hundredths of a second.
  c_bytes constant bigint := 8000000;
  v_decision text := 'open';
  v_previous app.stages;
  v_from timestamptz;
  v_most bigint;
  v_met boolean;
  v_inline boolean;
  v_size bigint;
  v_growth bigint;
  v_code text;
  v_problem text;
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
    v_from := clock_timestamp();
    -- Only data is put off: a stage that a function plans is of somebody who brought code.
    v_most := case when (stage.plan ? 'function') is not true then c_bytes end;
    if v_most is null or app.opening_time_left(job, null) > 0 then
      begin
        v_met := app.stage_condition(stage, job, v_most);
      exception
        when query_canceled or out_of_memory then
          if v_most is null then
            raise;
          end if;
          v_met := null;
        when others then
          if left(sqlstate, 2) in ('40', '53', '57', '58') then
            raise;
          end if;
          v_problem := sqlerrm;
      end;
      perform app.opening_time_left(job, clock_timestamp() - v_from);
    end if;
    if v_problem is not null then
      -- The condition is at fault, not the task that finished the stage before: this stage fails, and says why.
      perform app.fail_opening(stage, 'bad_condition', 'its condition cannot be evaluated: ' || v_problem);
      return;
    elsif v_met is null then
      -- A worker that has the time judges it, and its failure is the stage's alone.
      perform app.ask_for_plan(stage, '#plan', true);
      return;
    end if;
    v_decision := case when v_met then 'open' else 'when' end;
  end if;
  if v_decision <> 'open' then
    perform app.close_stages(array[stage.stage_id], 'skipped', v_decision);
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
  if stage.total is null and app.is_plain(stage.parallelism, stage.batch, stage.plan, null, null) then
    perform app.start_stages(array[stage.stage_id], 1);
    return;
  end if;
  -- A data plan that may fail is tried in a subtransaction: its error must cost this stage and not the finish that opened it.
  v_from := clock_timestamp();
  v_most := case when app.opening_time_left(job, null) > 0 then c_bytes else 0 end;
  begin
    v_size := app.plan_size(stage, job, v_previous, v_most);
    -- A few bytes of a template can name a large value in every task. Small parameters need no closer look.
    v_inline := v_size <= 1000 and v_most > 0;
    if v_inline and v_size * pg_column_size(jsonb_build_array(job.parameters)) > c_bytes then
      v_growth := app.plan_growth(stage, job, v_size);
      perform app.assert_plan_bytes(stage, v_growth - 128 * v_size, app.plan_bytes_of(stage.tenant_id));
      v_inline := v_growth <= c_bytes;
    end if;
    if v_size < 9223372036854775807 then
      perform app.assert_fan_out(stage, v_size);
    end if;
    if v_inline then
      perform app.plan_by_data(stage, job, v_previous, null);
    end if;
  exception
    when sqlstate 'FF009' then
      -- The caller who is submitting the job hears of it at once. Later it is the stage that fails.
      if stage.after = '{}' and job.created_at = now() then
        raise;
      end if;
      get stacked diagnostics v_code = constraint_name;
      v_problem := sqlerrm;
    when query_canceled or out_of_memory then
      v_inline := false;
    when others then
      if left(sqlstate, 2) in ('40', '53', '57', '58') then
        raise;
      end if;
      v_inline := false;
  end;
  perform app.opening_time_left(job, clock_timestamp() - v_from);
  if v_problem is not null then
    perform app.fail_opening(stage, coalesce(nullif(v_code, ''), 'beyond_limit'), v_problem);
  elsif not v_inline then
    perform app.ask_for_plan(stage, '#plan');
  end if;
end $$;
