-- A stage that ran before was planned again: merged by index into what it has. Known tasks are kept, and run again when their
-- parameters are others now; new ones are appended; vanished ones are skipped. Then the stage is reopened. Returns its total.
-- The caller holds the job's row.
create or replace function app.merge_plan(stage app.stages, job app.jobs)
returns bigint
language plpgsql
as $$
declare
  v_altered int8multirange;
  v_unplanned int8multirange;
  v_vanished int8multirange;
  v_gone record;
begin
  with altered as (
    update app.tasks t
       set parameters = d.parameters, metadata = d.metadata, parent = d.parent, bbox = d.bbox
      from app.task_drafts d
     where d.stage_id = stage.stage_id and t.stage_id = stage.stage_id
       and coalesce(t.index, t.ordinal::text) = coalesce(d.index, d.ordinal::text)
       and (t.parameters, t.metadata, t.parent, t.bbox) is distinct from (d.parameters, d.metadata, d.parent, d.bbox)
    returning t.ordinal
  )
  select coalesce(range_agg(int8range(a.ordinal, a.ordinal + 1)), '{}') into v_altered from altered a;
  -- What had vanished and is planned again runs as well.
  select v_altered + coalesce(range_agg(int8range(t.ordinal, t.ordinal + 1)), '{}')
    into v_altered
    from app.task_drafts d
    join app.tasks t on t.stage_id = stage.stage_id and coalesce(t.index, t.ordinal::text) = coalesce(d.index, d.ordinal::text)
    join app.results r on r.stage_id = stage.stage_id and r.ordinal = t.ordinal
   where d.stage_id = stage.stage_id and r.status = 'skipped' and r.error ->> 'code' = 'vanished';
  select coalesce(range_agg(int8range(t.ordinal, t.ordinal + 1)), '{}'),
      coalesce(range_agg(int8range(t.ordinal, t.ordinal + 1))
        filter (where coalesce(r.status <> 'skipped' or r.error ->> 'code' is distinct from 'vanished', true)), '{}')
    into v_unplanned, v_vanished
    from app.tasks t
    left join app.results r on r.stage_id = stage.stage_id and r.ordinal = t.ordinal
   where t.stage_id = stage.stage_id
     and not exists (
       select from app.task_drafts d
        where d.stage_id = stage.stage_id and coalesce(d.index, d.ordinal::text) = coalesce(t.index, t.ordinal::text));
  insert into app.tasks (stage_id, ordinal, tenant_id, index, parent, parameters, metadata, bbox)
  select stage.stage_id, stage.total + row_number() over (order by d.ordinal) - 1, stage.tenant_id, d.index, d.parent, d.parameters,
    d.metadata, d.bbox
    from app.task_drafts d
   where d.stage_id = stage.stage_id
     and not exists (
       select from app.tasks t
        where t.stage_id = stage.stage_id and coalesce(t.index, t.ordinal::text) = coalesce(d.index, d.ordinal::text));
  delete from app.task_drafts d where d.stage_id = stage.stage_id;

  v_gone := app.put_results_back(stage, v_vanished);
  insert into app.results (stage_id, ordinal, tenant_id, status, error)
  select stage.stage_id, o, stage.tenant_id, 'skipped',
    jsonb_build_object('code', 'vanished', 'message', 'the stage was planned again, and this task is not in the new plan')
    from unnest(v_vanished) r, generate_series(lower(r), upper(r) - 1) o;
  update app.stage_progress p
     set completed = c.completed, failed = c.failed, skipped = c.skipped, remaining = p.total - c.completed - c.failed - c.skipped
    from (
      select count(*) filter (where r.status = 'completed') as completed, count(*) filter (where r.status = 'failed') as failed,
        count(*) filter (where r.status = 'skipped') as skipped
        from app.results r
       where r.stage_id = stage.stage_id) c
   where p.stage_id = stage.stage_id;
  update app.stages s
     set again = s.again + v_altered - v_unplanned, replan = false,
         superseded = coalesce(s.superseded, '{}') + v_gone.superseded, repaired = coalesce(s.repaired, '{}')
   where s.stage_id = stage.stage_id
  returning * into stage;
  perform app.reopen_stage(stage, job);
  return (select p.total from app.stage_progress p where p.stage_id = stage.stage_id);
end $$;
