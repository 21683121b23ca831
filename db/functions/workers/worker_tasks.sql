-- What a worker holds of a tenant: what it said it runs first, longest first, then what waits in it. Bounded; `held` counts all.
create or replace function app.worker_tasks(worker uuid, most integer default 50, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_tenant text := app.acting_tenant(tenant);
  v_worker app.workers;
  v_rows integer := app.page_rows(most);
begin
  select * into v_worker from app.workers w where w.worker_id = worker and (w.tenant_id is null or w.tenant_id = v_tenant);
  if not found then
    raise exception 'there is no worker "%"', worker using errcode = 'FF001', hint = 'list them', detail = app.action('workers');
  end if;
  return (
    with mine as materialized (
      select k.claim_id, k.stage_id, k.task_type, k.attempt, k.claimed_at, k.held
        from app.claims k where k.worker_id = worker and k.tenant_id = v_tenant
    ),
    running as materialized (
      select m.claim_id, m.stage_id, m.task_type, m.attempt, m.claimed_at, (r ->> 'ordinal')::numeric::bigint as ordinal,
        (r ->> 'elapsed_s')::double precision as elapsed_s, r -> 'progress' as progress
        from jsonb_array_elements(v_worker.running) r
        join mine m on m.claim_id = (r ->> 'claim_id')::numeric::bigint and m.held @> (r ->> 'ordinal')::numeric::bigint
       order by (r ->> 'elapsed_s')::double precision desc
       limit v_rows + 1
    ),
    waiting as (
      select m.claim_id, m.stage_id, m.task_type, m.attempt, m.claimed_at, o.ordinal, null::double precision as elapsed_s, null::jsonb as progress
        from mine m
        cross join lateral (
          select g as ordinal from unnest(app.first_ordinals(m.held, 2 * v_rows + 1)) h, generate_series(lower(h), upper(h) - 1) g) o
       where not exists (select from running u where u.claim_id = m.claim_id and u.ordinal = o.ordinal)
       order by m.claim_id, o.ordinal
       limit v_rows + 1
    ),
    page as (
      select p.*, row_number() over (order by p.elapsed_s desc nulls last, p.claim_id, p.ordinal) as place
        from (select * from running union all select * from waiting) p
    )
    select json_build_object(
        'worker_id', worker, 'held', (select coalesce(sum(app.held_count(m.held)), 0) from mine m),
        'more', (select count(*) from page) > v_rows,
        'tasks', coalesce(json_agg(json_build_object(
          'task_id', case when p.ordinal >= 0 then p.stage_id || '-' || p.ordinal end, 'planning', p.ordinal < 0,
          'job_id', s.job_id, 'job_type', (select j.job_type from app.jobs j where j.tenant_id = v_tenant and j.job_id = s.job_id),
          'stage', case when s.job_id is not null then s.name end, 'index', coalesce(t.index, p.ordinal::text), 'task_type', s.task_type,
          'attempt', p.attempt, 'claimed_at', p.claimed_at, 'running', p.elapsed_s is not null,
          -- Said with the heartbeat: so long before that.
          'started_at', v_worker.heartbeat_at - make_interval(secs => p.elapsed_s), 'progress', p.progress) order by p.place), '[]'))
      from page p
      cross join lateral (select k.job_id, k.name, k.task_type from app.stages k where k.stage_id = p.stage_id offset 0) s
      left join lateral (select k.index from app.tasks k where k.stage_id = p.stage_id and k.ordinal = p.ordinal offset 0) t on true
     where p.place <= v_rows);
end $$;
grant execute on function app.worker_tasks(uuid, integer, text) to fanfold_api, fanfold_admin;
