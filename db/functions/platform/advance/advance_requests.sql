-- Opens whatever of these requests may open now, and ends those of which nothing is left open; in the transaction that ended the job they
-- waited for. Gives the jobs that ended by this, because nothing of them was to run: the caller does what follows from that. Requests are
-- locked here, ascending, after all jobs; the jobs that are opened are new, so that nobody waits for them.
create or replace function platform.advance_requests(inout tenants text[], inout ids text[])
language plpgsql
as $$
declare
  v_tenants text[];
  v_requests text[];
  v_next_tenants text[];
  v_next text[];
  v_plain_tenants text[];
  v_plain text[];
  v_numbers integer[];
  v_slow jsonb;
  v_item jsonb;
  v_ended text[];
  v_ended_tenants text[];
  v_opened record;
begin
  select array_agg(k.tenant_id), array_agg(k.request_id) into v_tenants, v_requests
    from (
      select u.tenant_id, u.request_id
        from (select distinct u.tenant_id, u.request_id from unnest(tenants, ids) as u(tenant_id, request_id) order by 1, 2) u
        cross join lateral (
          select 1 from platform.requests r where r.tenant_id = u.tenant_id and r.request_id = u.request_id for no key update) locked) k;
  tenants := '{}'::text[];
  ids := '{}'::text[];
  while v_requests <> '{}' loop
    with looked as materialized (
      select u.tenant_id, u.request_id, a.*
        from unnest(v_tenants, v_requests) as u(tenant_id, request_id)
        cross join lateral (
          select q.finished_at, q.run_at from platform.requests q where q.tenant_id = u.tenant_id and q.request_id = u.request_id offset 0) r
        cross join lateral (
          select array_agg(l.status order by l.number) as statuses, array_agg(l.importance order by l.number) as importances,
              array_agg(l.skip_reason order by l.number) as skip_reasons, bool_and(platform.has_ended(l.status)) as over,
              bool_or(l.status = 'failed' and l.importance = 'critical') and bool_or(l.status in ('waiting', 'waiting_approval', 'planning')) as doomed
            from (
              select j.number, j.importance, j.skip_reason, platform.status_of(j.phase, (
                  select q.status from app.jobs q where q.tenant_id = j.tenant_id and q.job_id = j.job_id)) as status
                from platform.request_jobs j
               where j.tenant_id = u.tenant_id and j.request_id = u.request_id
              offset 0) l) a
       where r.finished_at is null
    ),
    decided as materialized (
      select l.tenant_id, l.request_id, w.number, d.decision,
          d.decision = 'open' and w.condition is null and w.gate is null and (w.parameters ? 'function') is not true and w.job_id is null as plain
        from looked l
        cross join lateral (
          select j.* from platform.request_jobs j
           where j.tenant_id = l.tenant_id and j.request_id = l.request_id and j.phase = 'waiting' offset 0) w
        cross join lateral (
          select platform.job_decision(w.after, l.statuses, l.importances, l.skip_reasons) as decision offset 0) d
       where not l.over and not l.doomed and d.decision is not null
    ),
    cancelled as (
      update platform.request_jobs j
         set phase = 'cancelled', closed_at = now()
        from looked l
       where l.doomed and j.tenant_id = l.tenant_id and j.request_id = l.request_id and j.phase in ('waiting', 'waiting_approval', 'planning')
    ),
    ended as (
      select l.tenant_id, l.request_id from looked l where l.over
    ),
    -- Looked at once more: what was cancelled or skipped here may have been the last.
    again as (
      select l.tenant_id, l.request_id from looked l where l.doomed
      union
      select d.tenant_id, d.request_id from decided d where not d.plain
    )
    select p.tenants, p.ids, p.numbers, s.slow, e.tenants, e.ids, n.tenants, n.ids
      into v_plain_tenants, v_plain, v_numbers, v_slow, v_ended_tenants, v_ended, v_next_tenants, v_next
      from (
        select array_agg(d.tenant_id) as tenants, array_agg(d.request_id) as ids, array_agg(d.number) as numbers from decided d where d.plain) p,
      (select jsonb_agg(jsonb_build_array(d.tenant_id, d.request_id, d.number, d.decision) order by d.tenant_id, d.request_id, d.number) as slow
         from decided d where not d.plain) s,
      (select array_agg(d.tenant_id) as tenants, array_agg(d.request_id) as ids from ended d) e,
      (select array_agg(d.tenant_id) as tenants, array_agg(d.request_id) as ids from again d) n;
    if v_ended is not null then
      perform platform.end_requests(v_ended_tenants, v_ended);
    end if;
    if v_plain is not null then
      v_opened := platform.open_jobs(v_plain_tenants, v_plain, v_numbers);
      tenants := tenants || v_opened.tenants;
      ids := ids || v_opened.ids;
      v_next_tenants := v_next_tenants || v_opened.again_tenants;
      v_next := v_next || v_opened.again;
    end if;
    for v_item in select s from jsonb_array_elements(v_slow) s loop
      v_opened := platform.open_job(v_item ->> 0, v_item ->> 1, (v_item ->> 2)::integer, v_item ->> 3);
      tenants := tenants || v_opened.tenants;
      ids := ids || v_opened.ids;
    end loop;
    select array_agg(x.tenant_id), array_agg(x.request_id) into v_tenants, v_requests
      from (select distinct n.tenant_id, n.request_id from unnest(v_next_tenants, v_next) as n(tenant_id, request_id) order by 1, 2) x;
    v_requests := coalesce(v_requests, '{}');
  end loop;
end $$;
