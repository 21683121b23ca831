-- Locks the jobs of these stages, in the one order of all callers, and returns them: `for update`, so that it waits for
-- hold_dependencies.
create or replace function app.lock_jobs_of(stage_ids bigint[], out tenants text[], out job_ids text[])
language plpgsql
as $$
begin
  select array_agg(k.tenant_id), array_agg(k.job_id) into tenants, job_ids
     from (
       select distinct s.tenant_id, s.job_id
         from unnest(stage_ids) u(stage_id)
         cross join lateral (select * from app.stages s where s.stage_id = u.stage_id offset 0) s
        order by 1, 2
     ) k
     cross join lateral (
       select 1 from app.jobs j where j.tenant_id = k.tenant_id and j.job_id = k.job_id for update) locked;
end $$;
