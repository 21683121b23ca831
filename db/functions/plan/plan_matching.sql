-- match_previous: one task per task of the stage before, with its ordinal and index. What did not complete there is skipped
-- here.
create or replace function app.plan_matching(stage app.stages, previous app.stages)
returns bigint
language plpgsql
as $$
declare
  v_total bigint := coalesce(previous.total, 0);
  v_runnable int8multirange;
  v_skipped bigint := 0;
begin
  insert into app.tasks (stage_id, ordinal, tenant_id, index, metadata, parameters)
  select stage.stage_id, t.ordinal, stage.tenant_id, t.index, t.metadata, r.next_stage_params
    from app.tasks t
    left join app.results r on r.stage_id = previous.stage_id and r.ordinal = t.ordinal and r.status = 'completed'
   where t.stage_id = previous.stage_id;
  select coalesce(range_agg(int8range(r.ordinal, r.ordinal + 1)), '{}')
    into v_runnable
    from app.results r
   where r.stage_id = previous.stage_id and r.status = 'completed';
  if app.held_count(v_runnable) < v_total then
    v_skipped := app.skip_without_predecessor(stage, previous, int8multirange(int8range(0, v_total)) - v_runnable);
  end if;
  perform app.start_stages(array[stage.stage_id], v_total, v_runnable, v_skipped, app.largest_parameters(stage));
  return v_total;
end $$;
