-- How far the stages are that somebody works on, of jobs of the tenants named; `known`: stages told of before, whose last
-- numbers may not have been told. Found by their claims and counted in their ledgers: no task is looked at.
create or replace function app.running_progress(tenants json, known json, most integer)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
declare
  v_tenants text[] := app.followed_tenants(tenants);
begin
  return (
    with held as materialized (
      select k.stage_id, sum(app.held_count(k.held)) as processing
        from app.claims k
       where k.tenant_id = any (v_tenants) and not k.held @> -1::bigint
       group by k.stage_id
    ),
    wanted as (
      select h.stage_id from held h
      union
      select e::bigint from json_array_elements_text(known) e
      limit least(greatest(most, 1), 10000)
    )
    select coalesce(json_agg(json_build_object(
        'tenant_id', s.tenant_id, 'job_id', s.job_id, 'stage_id', s.stage_id, 'number', s.number, 'stage', s.name, 'status', s.status,
        'total', coalesce(p.total, s.total), 'completed', coalesce(p.completed, 0), 'failed', coalesce(p.failed, 0),
        'skipped', coalesce(p.skipped, 0), 'processing', coalesce(h.processing, 0)) order by s.stage_id), '[]')
      from wanted w
      cross join lateral (select * from app.stages s where s.stage_id = w.stage_id offset 0) s
      left join held h on h.stage_id = w.stage_id
      left join app.stage_progress p on p.stage_id = w.stage_id
     where s.job_id is not null and s.tenant_id = any (v_tenants));
end $$;
grant execute on function app.running_progress(json, json, integer) to fanfold_api, fanfold_admin;
