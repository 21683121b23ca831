-- What admit_jobs would refuse of a job's stages, before there are any: a stage that is too wide, or tasks that do not fit into the
-- queue. Charges nothing.
create or replace function app.admit_foreseen(limits app.limits, stages jsonb)
returns void
language plpgsql stable
as $$
declare
  v_stage app.stages;
  v_told record;
begin
  if stages is null then
    return;
  end if;
  v_stage.tenant_id := limits.tenant_id;
  for v_told in select * from jsonb_to_recordset(stages) as s(name text, tasks bigint, counted boolean, starts boolean) loop
    v_stage.name := v_told.name;
    if v_told.counted or v_told.starts then
      perform app.assert_fan_out(v_stage, v_told.tasks);
    end if;
  end loop;
  if limits.queued_tasks is not null then
    perform app.check_limits(limits, 1,
      greatest(1, (select sum(s.tasks) from jsonb_to_recordset(stages) as s(tasks bigint, starts boolean) where s.starts))::bigint,
      app.usage_of(limits, false, 0));
  end if;
end $$;
