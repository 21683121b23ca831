-- Jobs of the tenant, newest first, by keyset. request: what read_job_filter knows, and {tenant?, rows?, cursor?, progress?}; `cursor`
-- is the `next` of the page before. A page looks at 5,000 jobs, of those the filter's index can name, and goes on to 100,000 while
-- that is quick: no filter ever reads the whole table, a page may be short and have a next, and `examined` and `looked_back_to` say
-- how far it has looked.
create or replace function app.search_jobs(request json)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  c_examined constant integer := 5000;
  c_most_examined constant integer := 100000;
  c_quick constant interval := interval '80 milliseconds';
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_rows integer := app.page_rows((request ->> 'rows')::integer);
  v_cursor record := app.time_cursor(request ->> 'cursor', '-[0-9a-f]{64}');
  v_began timestamptz := clock_timestamp();
  f app.job_filter;
  v_before timestamptz;
  v_after_id text := v_cursor.id;
  v_ids text[] := '{}'::text[];
  v_chunk integer;
  v_seen integer;
  v_examined integer := 0;
  v_found text[];
  v_last text;
  v_next text;
  v_looked_back_to timestamptz;
begin
  f := app.read_job_filter(v_tenant, request);
  -- Before a given created_before only if the caller changed it on the way.
  v_before := least(coalesce(f.created_before, 'infinity'::timestamptz), v_cursor.at);

  v_chunk := v_rows + 1;
  -- A page without further filters is full after the first piece; one with them goes on in larger ones.
  loop
    select count(*), coalesce(array_agg(c.job_id order by c.created_at desc, c.job_id) filter (where c.fits), '{}'),
        (array_agg(c.job_id order by c.created_at, c.job_id desc))[1], coalesce(min(c.created_at), v_before)
      into v_seen, v_found, v_last, v_before
      from app.job_candidates(v_tenant, f, v_before, v_after_id, v_chunk) c;
    v_after_id := coalesce(v_last, v_after_id);
    v_examined := v_examined + v_seen;
    v_ids := v_ids || v_found;
    if cardinality(v_ids) > v_rows then
      v_ids := v_ids[1:v_rows];
      select (extract(epoch from j.created_at) * 1000000)::bigint || '-' || j.job_id
        into v_next
        from app.jobs j where j.tenant_id = v_tenant and j.job_id = v_ids[v_rows];
      exit;
    end if;
    exit when v_seen < v_chunk;
    if v_examined >= c_most_examined or (v_examined >= c_examined and clock_timestamp() - v_began > c_quick) then
      v_next := (extract(epoch from v_before) * 1000000)::bigint || '-' || v_after_id;
      v_looked_back_to := v_before;
      exit;
    end if;
    v_chunk := 2500;
  end loop;
  return json_build_object(
    'jobs', coalesce((
      select json_agg(app.listed_job(j, (request ->> 'progress')::boolean) order by i.place)
        from unnest(v_ids) with ordinality as i(job_id, place)
        cross join lateral (select * from app.jobs q where q.tenant_id = v_tenant and q.job_id = i.job_id offset 0) j), '[]'),
    'next', v_next, 'examined', v_examined, 'looked_back_to', v_looked_back_to);
end $$;
grant execute on function app.search_jobs(json) to fanfold_api, fanfold_admin;
