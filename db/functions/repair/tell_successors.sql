-- Repair flows downstream: a repaired stage closes, and its successors that ran before learn which of their tasks have another
-- input now. What had completed and ran again has; what had not and completed now has.
create or replace function app.tell_successors(stage app.stages)
returns void
language plpgsql
as $$
declare
  v_changed int8multirange := stage.superseded + app.completed_ordinals(stage.stage_id, stage.repaired);
begin
  if not isempty(v_changed) then
    update app.stages s
       set replan = s.replan or app.is_planned_again(s),
           again = s.again + (app.tasks_that_follow(s, stage.number, v_changed) - app.skipped_by_hand(s.stage_id))
     where s.tenant_id = stage.tenant_id and s.job_id = stage.job_id and stage.number = any (s.after) and s.total is not null;
  end if;
  update app.stages set repaired = null, superseded = null where stage_id = stage.stage_id;
end $$;
