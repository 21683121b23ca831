-- The failures of a job by signature, largest group first: category, code, the message with what differs masked, a sample, and
-- where they are. Of a stage with more than 20,000 failures the first and the last 10,000 are looked at, by their index, and 200
-- groups are told: `failed` is how many failures there are, `looked_at` how many were grouped, `group_count` in how many groups.
create or replace function app.error_groups(job_id text, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  c_looks_at constant integer := app.failures_seen();
  c_most_groups constant integer := 200;
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), error_groups.job_id);
begin
  return (
    with of_job as materialized (
      select s.stage_id, s.number, s.name, coalesce(p.failed, 0) as failed
        from app.stages s
        left join app.stage_progress p on p.stage_id = s.stage_id
       where s.tenant_id = v_job.tenant_id and s.job_id = v_job.job_id
    ),
    looked as (
      select s.stage_id, s.number, r.*
        from (select * from of_job order by number) s
        cross join lateral (
          select e.ordinal, e.finished_at, app.signature_of(e.error) as signature, e.error ->> 'category' as category,
            e.error ->> 'code' as code, e.error -> 'quarantined' = 'true' as quarantined
            from (
              (select f.ordinal, f.finished_at, f.error from app.results f
                where f.stage_id = s.stage_id and f.status = 'failed'
                order by f.ordinal
                limit case when s.failed > c_looks_at then c_looks_at / 2 else c_looks_at end)
              union all
              (select f.ordinal, f.finished_at, f.error from app.results f
                where f.stage_id = s.stage_id and f.status = 'failed' and s.failed > c_looks_at
                order by f.ordinal desc
                limit c_looks_at / 2)) e) r
       limit 3 * c_looks_at
    ),
    -- First within each stage: few rows are left to be put together, and no message was read yet.
    by_stage as materialized (
      select l.signature, l.category, l.code, l.number, l.stage_id, count(*) as tasks, bool_or(l.quarantined) as quarantined,
          min(l.finished_at) as first_at, max(l.finished_at) as last_at, (array_agg(l.ordinal order by l.ordinal))[:5] as ordinals
        from looked l
       group by 1, 2, 3, 4, 5
    ),
    grouped as materialized (
      select b.signature, b.category, b.code, sum(b.tasks) as tasks, bool_or(b.quarantined) is true as quarantined,
          min(b.first_at) as first_at, max(b.last_at) as last_at, array_agg(b.stage_id order by b.number) as stage_ids,
          (array_agg(b.ordinals[1] order by b.number))[1] as first_ordinal
        from by_stage b
       group by 1, 2, 3
       order by 4 desc, 1
    ),
    told as (
      select g.*, f.error ->> 'message' as sample,
          (select array_agg(s.name order by s.number) from of_job s where s.stage_id = any (g.stage_ids)) as stages,
          (select (array_agg(b.stage_id || '-' || o order by b.number, o))[:5]
             from by_stage b cross join unnest(b.ordinals) o
            where b.signature = g.signature and b.category is not distinct from g.category and b.code is not distinct from g.code) as task_ids
        from (select * from grouped order by tasks desc, signature limit c_most_groups) g
        left join app.results f on f.stage_id = g.stage_ids[1] and f.ordinal = g.first_ordinal
    )
    select json_build_object(
      'failed', (select coalesce(sum(s.failed), 0) from of_job s),
      'looked_at', (select coalesce(sum(g.tasks), 0) from grouped g),
      'group_count', (select count(*) from grouped),
      'groups', coalesce(json_agg(json_build_object(
        'signature', t.signature, 'category', t.category, 'code', t.code, 'message', app.masked_message(t.sample), 'sample', t.sample,
        'tasks', t.tasks, 'quarantined', t.quarantined, 'stages', t.stages, 'first_at', t.first_at, 'last_at', t.last_at,
        'task_ids', t.task_ids, 'action', app.action('retry_group', job_id => v_job.job_id, signature => t.signature))
        order by t.tasks desc, t.signature), '[]'))
      from told t);
end $$;
grant execute on function app.error_groups(text, text) to fanfold_api, fanfold_admin;
