-- What a worker must know of a stage to run its tasks. Nothing of it changes while the stage is open, so workers keep it; a stage
-- that was opened again is told anew.
create or replace function app.stage_facts(stage_ids bigint[])
returns json
language plpgsql
as $$
begin
  return (
    select coalesce(json_agg(app.stage_fact(s, j, case when s.after = '{}' then '[]'::json else (
          select json_agg(json_build_object('number', p.number, 'name', p.name, 'stage_id', p.stage_id, 'total', p.total, 'status', p.status))
            from app.stages p
           where p.tenant_id = s.tenant_id and p.job_id = s.job_id and p.number = any (s.after)) end)), '[]')
      from (select distinct u from unnest(stage_ids) u) k
      cross join lateral (select * from app.stages s where s.stage_id = k.u offset 0) s
      left join lateral (select * from app.jobs j where j.tenant_id = s.tenant_id and j.job_id = s.job_id offset 0) j on true);
end $$;
