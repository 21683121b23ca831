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
  v_after timestamptz;
  v_before timestamptz := 'infinity'::timestamptz;
  v_after_id text := '';
  v_open boolean;
  v_bad boolean;
  v_unknown text;
  v_reply json;
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
  v_after := (request ->> 'created_after')::timestamptz;
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

  with examined as materialized (
    (select j.created_at, j.job_id from app.jobs j
      where v_id is not null and j.tenant_id = v_tenant and j.job_id >= v_id and j.job_id < v_id || 'g'
        and j.created_at <= v_before and (j.created_at < v_before or j.job_id > v_after_id)
      limit c_examined)
    union all
    (select j.created_at, j.job_id from app.jobs j
      where v_id is null and v_open and j.finished_at is null and j.tenant_id = v_tenant
        and j.created_at <= v_before and (j.created_at < v_before or j.job_id > v_after_id) and j.created_at >= coalesce(v_after, '-infinity')
      order by j.created_at desc, j.job_id
      limit c_examined)
    union all
    (select j.created_at, j.job_id from app.jobs j
      where v_id is null and v_bad and j.ended_badly and j.tenant_id = v_tenant
        and j.created_at <= v_before and (j.created_at < v_before or j.job_id > v_after_id) and j.created_at >= coalesce(v_after, '-infinity')
      order by j.created_at desc, j.job_id
      limit c_examined)
    union all
    (select j.created_at, j.job_id from app.jobs j
      where v_id is null and not v_open and not v_bad and v_type is not null and j.tenant_id = v_tenant and j.job_type = v_type
        and j.created_at <= v_before and (j.created_at < v_before or j.job_id > v_after_id) and j.created_at >= coalesce(v_after, '-infinity')
      order by j.created_at desc, j.job_id
      limit c_examined)
    union all
    (select j.created_at, j.job_id from app.jobs j
      where v_id is null and not v_open and not v_bad and v_type is null and j.tenant_id = v_tenant
        and j.created_at <= v_before and (j.created_at < v_before or j.job_id > v_after_id) and j.created_at >= coalesce(v_after, '-infinity')
      order by j.created_at desc, j.job_id
      limit c_examined)
  ),
  bounded as (select e.created_at, e.job_id from examined e order by e.created_at desc, e.job_id limit c_examined),
  page as (
    select j.*
      from bounded b
      cross join lateral (select * from app.jobs q where q.tenant_id = v_tenant and q.job_id = b.job_id) j
     where (v_statuses = '{}' or j.status::text = any (v_statuses))
       and (v_type is null or j.job_type = v_type)
       and (v_labels is null or j.labels @> v_labels)
       and (request ->> 'correlation_id' is null or j.correlation_id = request ->> 'correlation_id')
       and (request ->> 'group_id' is null or j.group_id = request ->> 'group_id')
       and (v_error is null or strpos(lower(j.error ->> 'message'), v_error) > 0)
       and (v_after is null or j.created_at >= v_after)
     order by b.created_at desc, b.job_id
     limit v_rows + 1
  ),
  shown as (select * from page order by created_at desc, job_id limit v_rows)
  select json_build_object(
      'jobs', coalesce((
        select json_agg(json_build_object(
          'job_id', s.job_id, 'job_type', s.job_type, 'run', s.run, 'status', s.status, 'priority', s.priority, 'labels', s.labels,
          'created_at', s.created_at, 'started_at', s.started_at, 'finished_at', s.finished_at, 'error', s.error)
          order by s.created_at desc, s.job_id)
          from shown s), '[]'),
      'next', (
        select (extract(epoch from l.created_at) * 1000000)::bigint || '-' || l.job_id
          from (
            -- A full page goes on behind its last row; one that was not filled behind the last it looked at, if there may be more.
            (select s.created_at, s.job_id from shown s where (select count(*) from page) > v_rows order by s.created_at, s.job_id desc limit 1)
            union all
            (select b.created_at, b.job_id from bounded b
              where (select count(*) from page) <= v_rows and (select count(*) from bounded) = c_examined
              order by b.created_at, b.job_id desc limit 1)) l))
    into v_reply;
  return v_reply;
end $$;
grant execute on function app.search_jobs(json) to fanfold_api, fanfold_admin;
