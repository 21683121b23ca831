-- The jobs of a tenant that hold tasks on these workers, those with the most first: [{job_id?, job_type?, task_type, held, left?}]. `left` is what
-- is to do in the stages they hold tasks of, held or not; lone tasks have none. Others' jobs are nobody's business.
create or replace function app.who_holds(tenant text, workers uuid[])
returns json
language plpgsql stable
as $$
declare
  c_named constant integer := 5;
begin
  return (
    select coalesce(json_agg(json_build_object('job_id', h.job_id, 'job_type', j.job_type, 'task_type', h.task_type, 'held', h.held, 'left', h.remaining)
        order by h.held desc, h.job_id), '[]')
      from (
        select s.job_id, min(s.task_type) as task_type, sum(k.held) as held, sum(p.remaining) as remaining
          from (
            select c.stage_id, sum(app.held_count(c.held)) as held
              from app.claims c where c.worker_id = any (workers) and c.tenant_id = tenant group by 1) k
          join app.stages s on s.stage_id = k.stage_id
          left join app.stage_progress p on p.stage_id = k.stage_id
         group by s.job_id, case when s.job_id is null then s.stage_id end
         order by 3 desc, 1
         limit c_named
      ) h
      left join app.jobs j on j.tenant_id = tenant and j.job_id = h.job_id);
end $$;
