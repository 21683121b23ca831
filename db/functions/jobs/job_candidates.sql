-- The next jobs of a tenant that a filter may let through, newest first, after the place (before, after_id), and whether each fits.
-- Found by the filter's source, in the order of its index: `most` jobs are looked at and no more. Each source is a statement of its
-- own, so that the planner sees by which index it is to be read.
create or replace function app.job_candidates(tenant text, f app.job_filter, before timestamptz, after_id text, most integer)
returns table (created_at timestamptz, job_id text, status app.job_status, fits boolean)
language plpgsql stable
as $$
declare
  c_page constant text := 'select j.created_at, j.job_id, j.status, app.job_fits(j, $2) as fits from %s j where %s
    and j.created_at <= $3 and (j.created_at < $3 or j.job_id > $4) and j.created_at >= $5
    order by j.created_at desc, j.job_id limit $6';
  c_jobs constant text := format(c_page, 'app.jobs', 'j.tenant_id = $1 and %s');
  c_merged constant text := 'select c.* from %s c order by c.created_at desc, c.job_id limit $6';
  c_of_types constant text := format(c_merged, 'unnest(($2).types) u(type) cross join lateral (' || c_jobs || ')');
  -- Sources that are few jobs, and not in the order of their age, are read whole and sorted.
  c_by_id constant text := '(select * from app.jobs q where q.tenant_id = $1 and q.job_id >= ($2).id and q.job_id < ($2).id || ''g''
    limit 20000)';
  c_among constant text := '(select q.* from unnest(($2).among) u(job)
    cross join lateral (select * from app.jobs q where q.tenant_id = $1 and q.job_id = u.job offset 0) q)';
  v_query text := case f.source
    when 'age' then format(c_jobs, 'true')
    when 'open' then format(c_jobs, 'j.finished_at is null')
    when 'bad' then format(c_jobs, 'j.ended_badly')
    when 'correlation' then format(c_jobs, 'j.correlation_id is not null and j.correlation_id = ($2).correlation_id')
    when 'group' then format(c_jobs, 'j.group_id is not null and j.group_id = ($2).group_id')
    when 'paused' then format(c_jobs, 'j.paused_at is not null')
    when 'waiting' then format(c_jobs, 'j.waits_for > 0')
    when 'id' then format(c_page, c_by_id, 'true')
    when 'among' then format(c_page, c_among, 'true')
    when 'type' then format(c_of_types, 'j.job_type = u.type')
    when 'bad_type' then format(c_of_types, 'j.ended_badly and j.job_type = u.type')
    when 'open_bad' then format(c_merged, format('((%s) union all (%s))',
      format(c_jobs, 'j.finished_at is null'), format(c_jobs, 'j.ended_badly')))
  end;
begin
  if v_query is not null then
    return query execute v_query
      using tenant, f, before, after_id, coalesce(f.created_after, '-infinity'::timestamptz), most;
  end if;
end $$;
