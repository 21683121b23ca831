-- What a request came to: its jobs with what each returned, and how many of them ended how. Results that are large are left with their jobs.
create or replace function platform.result_of(request platform.requests)
returns jsonb
language sql stable
as $$
  select jsonb_build_object(
    'counts', jsonb_build_object('jobs', count(*), 'completed', count(*) filter (where l.status = 'completed'),
      'partial_success', count(*) filter (where l.status = 'partial_success'), 'failed', count(*) filter (where l.status = 'failed'),
      'skipped', count(*) filter (where l.status = 'skipped'), 'cancelled', count(*) filter (where l.status = 'cancelled')),
    'outputs', coalesce(jsonb_object_agg(l.name, l.result) filter (where l.result is not null and pg_column_size(l.result) <= 16384), '{}'))
    from (
      select j.name, platform.status_of(j.phase, q.status) as status,
          case when q.status in ('completed', 'partial_success') then app.job_result(j.tenant_id, j.job_id) end as result
        from platform.request_jobs j
        left join app.jobs q on q.tenant_id = j.tenant_id and q.job_id = j.job_id
       where j.tenant_id = request.tenant_id and j.request_id = request.request_id
    ) l
$$;
