-- The next jobs of a tenant that a filter may let through, newest first, after the place (before, after_id), and whether each fits.
-- Found by the filter's source, in the order of its index: `most` jobs are looked at and no more.
create or replace function app.job_candidates(tenant text, f app.job_filter, before timestamptz, after_id text, most integer)
returns table (created_at timestamptz, job_id text, status app.job_status, fits boolean)
language plpgsql stable
as $$
declare
  -- Sources that are few jobs, and not in the order of their age, are read whole and sorted.
  c_few constant integer := 20000;
  v_since timestamptz := coalesce(f.created_after, '-infinity'::timestamptz);
begin
  if f.source = 'age' then
    return query
      select j.created_at, j.job_id, j.status, app.job_fits(j, f)
        from app.jobs j
       where j.tenant_id = tenant
         and j.created_at <= before and (j.created_at < before or j.job_id > after_id) and j.created_at >= v_since
       order by j.created_at desc, j.job_id
       limit most;
  elsif f.source = 'open' then
    return query
      select j.created_at, j.job_id, j.status, app.job_fits(j, f)
        from app.jobs j
       where j.finished_at is null and j.tenant_id = tenant
         and j.created_at <= before and (j.created_at < before or j.job_id > after_id) and j.created_at >= v_since
       order by j.created_at desc, j.job_id
       limit most;
  elsif f.source = 'bad' then
    return query
      select j.created_at, j.job_id, j.status, app.job_fits(j, f)
        from app.jobs j
       where j.ended_badly and j.tenant_id = tenant
         and j.created_at <= before and (j.created_at < before or j.job_id > after_id) and j.created_at >= v_since
       order by j.created_at desc, j.job_id
       limit most;
  elsif f.source = 'correlation' then
    return query
      select j.created_at, j.job_id, j.status, app.job_fits(j, f)
        from app.jobs j
       where j.correlation_id is not null and j.correlation_id = f.correlation_id and j.tenant_id = tenant
         and j.created_at <= before and (j.created_at < before or j.job_id > after_id) and j.created_at >= v_since
       order by j.created_at desc, j.job_id
       limit most;
  elsif f.source = 'group' then
    return query
      select j.created_at, j.job_id, j.status, app.job_fits(j, f)
        from app.jobs j
       where j.group_id is not null and j.group_id = f.group_id and j.tenant_id = tenant
         and j.created_at <= before and (j.created_at < before or j.job_id > after_id) and j.created_at >= v_since
       order by j.created_at desc, j.job_id
       limit most;
  elsif f.source = 'paused' then
    return query
      select j.created_at, j.job_id, j.status, app.job_fits(j, f)
        from app.jobs j
       where j.paused_at is not null and j.tenant_id = tenant
         and j.created_at <= before and (j.created_at < before or j.job_id > after_id) and j.created_at >= v_since
       order by j.created_at desc, j.job_id
       limit most;
  elsif f.source = 'waiting' then
    return query
      select j.created_at, j.job_id, j.status, app.job_fits(j, f)
        from app.jobs j
       where j.waits_for > 0 and j.tenant_id = tenant
         and j.created_at <= before and (j.created_at < before or j.job_id > after_id) and j.created_at >= v_since
       order by j.created_at desc, j.job_id
       limit most;
  elsif f.source = 'id' then
    return query
      select j.created_at, j.job_id, j.status, app.job_fits(j, f)
        from (
          select * from app.jobs q
           where q.tenant_id = tenant and q.job_id >= f.id and q.job_id < f.id || 'g' limit c_few) j
       where j.created_at <= before and (j.created_at < before or j.job_id > after_id) and j.created_at >= v_since
       order by j.created_at desc, j.job_id
       limit most;
  elsif f.source = 'among' then
    return query
      select j.created_at, j.job_id, j.status, app.job_fits(j, f)
        from (
          select q.* from unnest(f.among) u(job)
           cross join lateral (select * from app.jobs q where q.tenant_id = tenant and q.job_id = u.job offset 0) q) j
       where j.created_at <= before and (j.created_at < before or j.job_id > after_id) and j.created_at >= v_since
       order by j.created_at desc, j.job_id
       limit most;
  elsif f.source = 'type' then
    return query
      select c.created_at, c.job_id, c.status, c.fits
        from unnest(f.types) u(type)
        cross join lateral (
          select j.created_at, j.job_id, j.status, app.job_fits(j, f) as fits
            from app.jobs j
           where j.job_type = u.type and j.tenant_id = tenant
             and j.created_at <= before and (j.created_at < before or j.job_id > after_id) and j.created_at >= v_since
           order by j.created_at desc, j.job_id
           limit most) c
       order by c.created_at desc, c.job_id
       limit most;
  elsif f.source = 'bad_type' then
    return query
      select c.created_at, c.job_id, c.status, c.fits
        from unnest(f.types) u(type)
        cross join lateral (
          select j.created_at, j.job_id, j.status, app.job_fits(j, f) as fits
            from app.jobs j
           where j.ended_badly and j.job_type = u.type and j.tenant_id = tenant
             and j.created_at <= before and (j.created_at < before or j.job_id > after_id) and j.created_at >= v_since
           order by j.created_at desc, j.job_id
           limit most) c
       order by c.created_at desc, c.job_id
       limit most;
  elsif f.source = 'open_bad' then
    return query
      select c.created_at, c.job_id, c.status, c.fits
        from (
          (select j.created_at, j.job_id, j.status, app.job_fits(j, f) as fits
             from app.jobs j
            where j.finished_at is null and j.tenant_id = tenant
              and j.created_at <= before and (j.created_at < before or j.job_id > after_id) and j.created_at >= v_since
            order by j.created_at desc, j.job_id
            limit most)
          union all
          (select j.created_at, j.job_id, j.status, app.job_fits(j, f)
             from app.jobs j
            where j.ended_badly and j.tenant_id = tenant
              and j.created_at <= before and (j.created_at < before or j.job_id > after_id) and j.created_at >= v_since
            order by j.created_at desc, j.job_id
            limit most)) c
       order by c.created_at desc, c.job_id
       limit most;
  end if;
end $$;
