-- What a repair of an ended job would do: one row per stage it opens again. `kind` says what is asked for:
-- resume (everything that did not end well), stage (all tasks of the stage `target`, and what follows it), group (tasks that
-- failed with the signature `target`), seen_group (of them, those among the failures that error_groups looks at: to be told, not done),
-- failures (those that fit the filter `target`, see is_redriven), task (the task id `target`), tasks (those of a selection; `target` is of retry_tasks: stage id, statuses, ordinals). `again` runs in
-- any case; `at_most` counts what may follow.
create or replace function app.repair_plan(job app.jobs, kind text, target text)
returns table (stage_id bigint, number integer, name text, own boolean, again int8multirange, replan boolean, kept bigint, at_most bigint)
language plpgsql stable
as $$
declare
  v_stage app.stages;
  v_ledger app.stage_progress;
  v_opened integer[] := '{}'::integer[];
  v_touched int8multirange[] := '{}'::int8multirange[];
  v_follow int8multirange;
begin
  for v_stage in select * from app.stages s where s.tenant_id = job.tenant_id and s.job_id = job.job_id order by s.number loop
    select * into v_ledger from app.stage_progress p where p.stage_id = v_stage.stage_id;
    stage_id := v_stage.stage_id;
    number := v_stage.number;
    name := v_stage.name;
    again := '{}'::int8multirange;
    replan := false;
    own := false;
    if kind = 'resume' then
      again := case when v_ledger.stage_id is not null then app.unfinished_ordinals(v_ledger) else '{}' end;
      own := v_stage.status in ('failed', 'cancelled', 'partial_success') or not isempty(again) or not isempty(v_stage.again) or v_stage.replan;
    elsif kind = 'stage' and target in (v_stage.name, v_stage.number::text) then
      again := case when v_ledger.stage_id is not null then int8multirange(int8range(0, v_ledger.total)) else '{}' end;
      replan := v_ledger.stage_id is not null and app.is_planned_again(v_stage);
      own := true;
    elsif kind in ('group', 'seen_group') then
      again := coalesce((
        select range_agg(int8range(r.ordinal, r.ordinal + 1))
          from app.failures_of(v_stage.stage_id, case when kind = 'seen_group' then app.failures_seen() end) r
         where app.signature_of(r.error) = target), '{}');
      own := not isempty(again);
    elsif kind = 'failures' and v_stage.task_type = coalesce(target::jsonb ->> 'task_type', v_stage.task_type) then
      again := coalesce((
        select range_agg(int8range(r.ordinal, r.ordinal + 1))
          from app.failures_of(v_stage.stage_id, null) r where app.is_redriven(target::jsonb, r.error, r.finished_at)), '{}');
      own := not isempty(again);
    elsif kind = 'task' and v_stage.stage_id::text = split_part(target, '-', 1) then
      again := int8multirange(int8range(split_part(target, '-', 2)::bigint, split_part(target, '-', 2)::bigint + 1));
      own := true;
    elsif kind = 'tasks' and v_stage.stage_id::text = split_part(target, ' ', 1) then
      again := app.retryable_ordinals(v_stage, string_to_array(split_part(target, ' ', 2), ','), split_part(target, ' ', 3)::int8multirange);
      own := not isempty(again);
    end if;
    if own and v_ledger.remaining > 0 then
      -- What never ran runs in any case: the stage could not end without it.
      again := again + app.absent_ordinals(v_stage.stage_id, v_ledger.total);
    end if;
    v_follow := coalesce((
      select range_agg(f)
        from unnest(v_stage.after) p, unnest(app.tasks_that_follow(v_stage, p, v_touched[p])) f
       where p = any (v_opened) and v_ledger.stage_id is not null), '{}');
    if kind = 'stage' and v_stage.after && v_opened and v_ledger.stage_id is not null then
      again := again + app.unfinished_ordinals(v_ledger);
    end if;
    v_touched[v_stage.number] := coalesce(again + v_follow + v_stage.again, '{}');
    if own or v_stage.after && v_opened then
      v_opened := v_opened || v_stage.number;
      at_most := app.held_count(v_touched[v_stage.number]);
      kept := coalesce(v_ledger.completed, 0) - app.held_count(app.completed_ordinals(v_stage.stage_id, again));
      return next;
    end if;
  end loop;
end $$;
