-- The result of a job: that of its last stage, when that was one task. Null where the stage has no result, or keeps it in storage.
create or replace function app.job_result(tenant text, job text)
returns jsonb
language sql stable
as $$
  select f.result
    from (
      select s.* from app.stages s where s.tenant_id = tenant and s.job_id = job order by s.number desc limit 1) l
    join app.results f on f.stage_id = l.stage_id and f.ordinal = 0 and f.status = 'completed'
   where l.total = 1
$$;
