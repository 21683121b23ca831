-- Locks the jobs of these stages, in the order in which everybody does: `for update`, so that it waits for hold_dependencies.
create or replace function app.lock_jobs_of(stage_ids bigint[])
returns void
language plpgsql
as $$
begin
  perform 1
     from (
       select distinct s.tenant_id, s.job_id
         from unnest(stage_ids) u(stage_id)
         cross join lateral (select * from app.stages s where s.stage_id = u.stage_id offset 0) s
        order by 1, 2
     ) k
     cross join lateral (
       select 1 from app.jobs j where j.tenant_id = k.tenant_id and j.job_id = k.job_id for update) locked;
end $$;
