-- The next page of a tenant's lone tasks that have ended, by stage and number: those that no rule keeps any longer go, with their results,
-- attempts and logs.
create or replace function app.retire_tasks(tenant text, cursor jsonb)
returns jsonb
language plpgsql
set enable_seqscan = off
as $$
declare
  c_page constant integer := 2000;
  v_stage app.stages;
  v_seen integer;
  v_last bigint;
  v_due bigint[];
begin
  select * into v_stage from app.stages s
   where s.tenant_id = tenant and s.job_id is null and (cursor is null or s.task_type >= cursor ->> 0)
   order by s.task_type
   limit 1;
  if not found then
    return jsonb_build_object('removed', 0, 'next', null);
  end if;
  select count(*), max(p.ordinal), array_agg(p.ordinal) filter (where p.finished_at < now() - make_interval(secs => p.keep_s))
    into v_seen, v_last, v_due
    from (
      select r.ordinal, r.finished_at, (app.retention_rule(tenant, 'tasks', v_stage.task_type, r.status::text)).keep_s
        from app.results r
       where r.stage_id = v_stage.stage_id
         and r.ordinal > case when cursor ->> 0 = v_stage.task_type then (cursor ->> 1)::bigint else -1 end
       order by r.ordinal
       limit c_page
    ) p;
  if v_due is not null then
    -- One that a person has just queued again has no result any more, and stays.
    with gone as (
      delete from app.results r
       where r.stage_id = v_stage.stage_id and r.ordinal = any (v_due)
         and r.finished_at < now() - make_interval(secs => (app.retention_rule(tenant, 'tasks', v_stage.task_type, r.status::text)).keep_s)
      returning r.ordinal
    )
    select array_agg(g.ordinal) into v_due from gone g;
    delete from app.attempts a where a.stage_id = v_stage.stage_id and a.ordinal = any (v_due);
    delete from app.task_logs l where l.stage_id = v_stage.stage_id and l.ordinal = any (v_due);
    delete from app.tasks t where t.stage_id = v_stage.stage_id and t.ordinal = any (v_due);
  end if;
  return jsonb_build_object('removed', coalesce(cardinality(v_due), 0), 'next', case
    when v_seen = c_page then jsonb_build_array(v_stage.task_type, v_last)
    -- The type after this one; no name stands between them.
    else jsonb_build_array(v_stage.task_type || chr(1), -1) end);
end $$;
