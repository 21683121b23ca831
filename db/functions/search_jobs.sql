-- Jobs of the tenant, newest first, by keyset. request: {tenant?, status? [..], type?, labels?, id?, error?, correlation_id?,
-- group_id?, created_after?, created_before?, rows?, cursor?}; `cursor` is the `next` of the page before. A page looks at 10,000
-- jobs at most, of those an index can name (open, badly ended, of a type, by id), so that no filter ever reads the whole table:
-- a page may be short and have a next.
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
  c_examined constant integer := 10000;
  v_tenant text := app.acting_tenant(request ->> 'tenant');
  v_rows integer := coalesce((request ->> 'rows')::integer, 50);
  v_statuses text[] := array(select json_array_elements_text(case json_typeof(request -> 'status') when 'array' then request -> 'status' else '[]' end));
  v_type text := request ->> 'type';
  v_id text := request ->> 'id';
  v_labels jsonb := case json_typeof(request -> 'labels') when 'object' then (request -> 'labels')::jsonb end;
  v_error text := lower(request ->> 'error');
  v_cursor text := request ->> 'cursor';
  v_since timestamptz;
  v_before timestamptz := 'infinity'::timestamptz;
  v_after_id text := '';
  v_open boolean;
  v_bad boolean;
  v_unknown text;
  v_job app.jobs;
  v_jobs json[] := '{}'::json[];
  v_left integer := c_examined;
  v_chunk integer;
  v_seen integer;
  v_last text;
  v_next text;
begin
  select s into v_unknown from unnest(v_statuses) s where s <> all (enum_range(null::app.job_status)::text[]) limit 1;
  if v_unknown is not null then
    raise exception '"%" is not a job status', left(v_unknown, 40)
      using errcode = 'FF002', hint = 'one of ' || array_to_string(enum_range(null::app.job_status)::text[], ', ');
  end if;
  if v_rows not between 1 and 1000 then
    raise exception 'a page has 1 to 1000 rows, not %', v_rows using errcode = 'FF002';
  end if;
  if not app.is_time(request ->> 'created_after') or not app.is_time(request ->> 'created_before') then
    raise exception 'created_after or created_before is not a time' using errcode = 'FF002', hint = 'a time such as 2030-01-31T08:00:00Z';
  end if;
  if v_id is not null and v_id !~ '^[0-9a-f]{4,64}$' then
    raise exception '"%" is not the beginning of a job id', left(v_id, 80) using errcode = 'FF002', hint = 'at least 4 characters of it';
  end if;
  v_since := coalesce((request ->> 'created_after')::timestamptz, '-infinity'::timestamptz);
  v_before := coalesce((request ->> 'created_before')::timestamptz, v_before);
  if v_cursor is not null then
    if v_cursor !~ '^\d{1,17}-[0-9a-f]{64}$' then
      raise exception 'the cursor is not one of ours' using errcode = 'FF002', hint = 'pass `next` of the page before, unchanged';
    end if;
    -- Before a given created_before only if the caller changed it on the way.
    v_before := least(v_before, 'epoch'::timestamptz + split_part(v_cursor, '-', 1)::bigint * interval '1 microsecond');
    v_after_id := split_part(v_cursor, '-', 2);
  end if;
  if v_error is not null then
    -- Only what did not end well has an error; text in it is what was written there, not a pattern.
    v_statuses := case when v_statuses = '{}' then array['failed', 'cancelled', 'partial_success'] else v_statuses end;
  end if;
  -- Which of the indexes hold all that can fit; a page that needs completed jobs goes by type, or by age alone.
  v_open := v_statuses && array['queued', 'processing'] and not v_statuses @> array['completed'];
  v_bad := v_statuses && array['failed', 'cancelled', 'partial_success'] and not v_statuses @> array['completed'];

  v_chunk := v_rows + 1;
  -- A page without further filters is full after the first piece; one with them goes on in larger ones.
  loop
    v_seen := 0;
    for v_job in
      (select j.* from (
          -- Of its own, so that it is read by the id and then sorted, and not by age until one fits.
          select * from app.jobs q
           where v_id is not null and q.tenant_id = v_tenant and q.job_id >= v_id and q.job_id < v_id || 'g' limit c_examined) j
        where j.created_at <= v_before and (j.created_at < v_before or j.job_id > v_after_id) and j.created_at >= v_since
        order by j.created_at desc, j.job_id
        limit v_chunk)
      union all
      (select j.* from app.jobs j
        where v_id is null and v_open and j.finished_at is null and j.tenant_id = v_tenant
          and j.created_at <= v_before and (j.created_at < v_before or j.job_id > v_after_id) and j.created_at >= v_since
        order by j.created_at desc, j.job_id
        limit v_chunk)
      union all
      (select j.* from app.jobs j
        where v_id is null and v_bad and j.ended_badly and j.tenant_id = v_tenant
          and j.created_at <= v_before and (j.created_at < v_before or j.job_id > v_after_id) and j.created_at >= v_since
        order by j.created_at desc, j.job_id
        limit v_chunk)
      union all
      (select j.* from app.jobs j
        where v_id is null and not v_open and not v_bad and v_type is not null and j.job_type = v_type and j.tenant_id = v_tenant
          and j.created_at <= v_before and (j.created_at < v_before or j.job_id > v_after_id) and j.created_at >= v_since
        order by j.created_at desc, j.job_id
        limit v_chunk)
      union all
      (select j.* from app.jobs j
        where v_id is null and not v_open and not v_bad and v_type is null and j.tenant_id = v_tenant
          and j.created_at <= v_before and (j.created_at < v_before or j.job_id > v_after_id) and j.created_at >= v_since
        order by j.created_at desc, j.job_id
        limit v_chunk)
      order by created_at desc, job_id
      limit v_chunk
    loop
      v_seen := v_seen + 1;
      v_before := v_job.created_at;
      v_after_id := v_job.job_id;
      continue when not (
        (v_statuses = '{}' or v_job.status::text = any (v_statuses))
        and (v_type is null or v_job.job_type = v_type)
        and (v_labels is null or v_job.labels @> v_labels)
        and (request ->> 'correlation_id' is null or v_job.correlation_id is not distinct from request ->> 'correlation_id')
        and (request ->> 'group_id' is null or v_job.group_id is not distinct from request ->> 'group_id')
        and (v_error is null or strpos(lower(coalesce(v_job.error ->> 'message', '')), v_error) > 0));
      if cardinality(v_jobs) = v_rows then
        v_next := v_last;
        exit;
      end if;
      v_jobs := v_jobs || json_build_object(
        'job_id', v_job.job_id, 'job_type', v_job.job_type, 'run', v_job.run, 'status', v_job.status, 'priority', v_job.priority,
        'labels', v_job.labels, 'created_at', v_job.created_at, 'started_at', v_job.started_at, 'finished_at', v_job.finished_at,
        'error', v_job.error);
      v_last := (extract(epoch from v_job.created_at) * 1000000)::bigint || '-' || v_job.job_id;
    end loop;
    exit when v_next is not null or v_seen < v_chunk;
    v_left := v_left - v_seen;
    if v_left <= 0 then
      v_next := (extract(epoch from v_before) * 1000000)::bigint || '-' || v_after_id;
      exit;
    end if;
    v_chunk := least(1000, v_left);
  end loop;
  return json_build_object('jobs', array_to_json(v_jobs), 'next', v_next);
end $$;
grant execute on function app.search_jobs(json) to fanfold_api, fanfold_admin;
