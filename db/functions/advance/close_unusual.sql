-- What the end of a stage brings with it that was not planned to its end, closed before its tasks had ended, was opened for repair, or was
-- critical and failed. The caller has closed the stages.
create or replace function app.close_unusual(stage_ids bigint[], unplanned bigint[], skipped boolean)
returns void
language plpgsql
as $$
declare
  v_stage app.stages;
begin
  for v_stage in select * from app.stages s where s.stage_id = any (stage_ids) order by s.stage_id loop
    update app.stage_progress p set is_open = false where p.stage_id = v_stage.stage_id and p.is_open;
    if v_stage.status = 'failed' and v_stage.error is null and v_stage.stage_id = any (unplanned) then
      update app.stages s
         set error = (
           select jsonb_build_object('category', a.category, 'code', a.code, 'message', a.message, 'while', 'planning')
             from app.attempts a
            where a.stage_id = s.stage_id and a.ordinal = -1 and a.outcome in ('failed', 'lost')
            order by a.attempt_id desc
            limit 1)
       where s.stage_id = v_stage.stage_id;
    end if;
    -- Never planned to the end: what a planner had sent of it will not run.
    delete from app.tasks t
     where t.stage_id = v_stage.stage_id and not exists (select from app.stage_progress p where p.stage_id = v_stage.stage_id);
    delete from app.task_drafts d where d.stage_id = v_stage.stage_id;
    if v_stage.repaired is not null and not skipped then
      perform app.tell_successors(v_stage);
    end if;
    if v_stage.status = 'failed' and v_stage.importance = 'critical' then
      update app.stages s
         set status = 'cancelled', closed_at = now()
       where s.tenant_id = v_stage.tenant_id and s.job_id = v_stage.job_id and s.status in ('waiting', 'waiting_approval');
      -- No person is asked any more: the deadline of what still runs counts again.
      perform app.start_clock(j) from app.jobs j where j.tenant_id = v_stage.tenant_id and j.job_id = v_stage.job_id;
    end if;
  end loop;
end $$;
