-- What the tasks of a job say they delivered, added up by stage and name: count, where, and whether it can be used. A location
-- that all share is told as such; of several, the first five. Of each stage 10,000 tasks that delivered are looked at, because the
-- status is asked for again and again; `at_least` says when there are more.
create or replace function app.job_deliverables(job app.jobs)
returns json
language plpgsql stable
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
begin
  return (
    select coalesce(json_agg(json_build_object(
        'name', d.name, 'stage', d.stage, 'count', d.count, 'location', case when cardinality(d.locations) = 1 then d.locations[1] end,
        'locations', d.locations[:5], 'usable', d.usable, 'tasks', d.tasks,
        'at_least', d.looked_at = 10000) order by d.number, d.name), '[]')
      from (
        select s.number, s.name as stage, r.looked_at, e ->> 'name' as name, sum(coalesce((e ->> 'count')::numeric, 1)) as count, count(*) as tasks,
          bool_and(coalesce((e ->> 'usable')::boolean, true)) as usable,
          array_agg(distinct e ->> 'location') filter (where e ->> 'location' is not null) as locations
          from app.stages s
          cross join lateral (
            select l.deliverables, l.status, count(*) over () as looked_at
              from (
                select f.deliverables, f.status from app.results f
                 where f.stage_id = s.stage_id and f.deliverables is not null
                 order by f.ordinal
                 limit 10000) l) r
          cross join lateral jsonb_array_elements(r.deliverables) e
         where s.tenant_id = job.tenant_id and s.job_id = job.job_id and r.status = 'completed'
         group by 1, 2, 3, 4
      ) d);
end $$;
