-- What is wrong with a job that ends otherwise than completed: the error of its most important stage that failed, or its first failed task's.
create or replace function app.job_error(tenant text, job text)
returns jsonb
language plpgsql stable
as $$
begin
  return (
    select jsonb_build_object('stage', s.name, 'message', coalesce(s.error ->> 'message',
        (s.summary ->> 'failed') || ' of ' || s.total || ' tasks failed; the first: ' || (
          select r.error ->> 'message' from app.results r
           where r.stage_id = s.stage_id and r.status = 'failed' order by r.ordinal limit 1))) || coalesce(s.error, '{}')
      from app.stages s
     where s.tenant_id = tenant and s.job_id = job and s.status = 'failed'
     order by s.importance, s.number
     limit 1);
end $$;
