-- What a request was made of and what came of it, to be held against another: what it was asked for, how its tasks ended, the files that it made by
-- media type, and the box around its tasks. Of a request with very many tasks or files the first count, and `at_least` says so.
create or replace function platform.release_side(request platform.requests)
returns jsonb
language plpgsql stable
as $$
declare
  c_looks_at constant integer := 20000;
  v_release platform.releases;
  v_jobs constant text[] := array(
    select j.job_id from platform.request_jobs j
     where j.tenant_id = request.tenant_id and j.request_id = request.request_id and j.job_id is not null order by j.number);
  v_tasks jsonb;
  v_boxes bigint;
  v_extent jsonb;
  v_files bigint;
  v_made jsonb;
begin
  select * into v_release from platform.releases l where l.tenant_id = request.tenant_id and l.request_id = request.request_id;
  select jsonb_build_object('total', coalesce(sum(p.total), 0), 'completed', coalesce(sum(p.completed), 0), 'failed', coalesce(sum(p.failed), 0),
      'skipped', coalesce(sum(p.skipped), 0))
    into v_tasks
    from app.stages s
    join app.stage_progress p on p.stage_id = s.stage_id
   where s.tenant_id = request.tenant_id and s.job_id = any (v_jobs);
  -- A box over the antimeridian, whose west is its greater edge, goes round the globe.
  select count(*), jsonb_build_array(
      min(case when b.west <= b.east then b.west else -180 end), min(b.south), max(case when b.west <= b.east then b.east else 180 end), max(b.north))
    into v_boxes, v_extent
    from (
      select t.bbox[1] as west, t.bbox[2] as south, t.bbox[cardinality(t.bbox) / 2 + 1] as east, t.bbox[cardinality(t.bbox) / 2 + 2] as north
        from app.stages s
        join app.tasks t on t.stage_id = s.stage_id
       where s.tenant_id = request.tenant_id and s.job_id = any (v_jobs) and t.bbox is not null
       limit c_looks_at) b;
  select coalesce(sum(m.files), 0), coalesce(jsonb_agg(jsonb_build_object('media_type', m.media_type, 'files', m.files, 'bytes', m.bytes) order by m.media_type), '[]')
    into v_files, v_made
    from (
      select a.media_type, count(*) as files, sum(a.bytes) as bytes
        from (
          select q.media_type, q.bytes from app.assets q
           where q.tenant_id = request.tenant_id and q.job_id = any (v_jobs) and q.retracted_at is null
           limit c_looks_at) a
       group by a.media_type) m;
  return jsonb_build_object(
    'request_id', request.request_id, 'version_id', request.version_id, 'run', request.run, 'status', request.status, 'data_type', request.data_type,
    'created_at', request.created_at, 'finished_at', request.finished_at,
    'files', (select coalesce(jsonb_agg(f.file order by f.place), '[]') from jsonb_array_elements(request.files) with ordinality f(file, place) where f.place <= 1000),
    'file_count', jsonb_array_length(request.files), 'parameters', request.parameters, 'tasks', v_tasks,
    'made', v_made, 'extent', case when v_boxes > 0 then v_extent end, 'at_least', v_boxes >= c_looks_at or v_files >= c_looks_at,
    'job_ids', to_jsonb(v_jobs), 'release', case when v_release.release_id is not null then platform.release_record(v_release) end);
end $$;
