-- The completed results of those tasks of a job that ran one of these handlers, in pages of at most 4 MB: what one job has made, for
-- another to go on with. `cursor` is `next` of the page before. A result that was spilled is told by its reference.
create or replace function app.read_job_results(job text, task_types json, cursor text default null, page_rows integer default 1000, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  c_bytes constant bigint := 4194304;
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), job);
  v_from bigint := coalesce(split_part(cursor, '-', 1)::bigint, -1);
  v_after bigint := coalesce(split_part(cursor, '-', 2)::bigint, -1);
  v_items json;
  v_last text;
  v_more boolean;
begin
  with page as (
    select s.stage_id, s.task_type, r.ordinal, r.result, r.spill,
      sum(coalesce(octet_length(r.result::text), 0) + 64) over (order by s.stage_id, r.ordinal) as bytes,
      row_number() over (order by s.stage_id, r.ordinal) as n
    from app.stages s
    cross join lateral (
      select * from app.results q
       where q.stage_id = s.stage_id and q.ordinal > case when s.stage_id = v_from then v_after else -1 end and q.status = 'completed'
       order by q.ordinal
       limit least(greatest(page_rows, 1), 1000) + 1) r
    where s.tenant_id = v_job.tenant_id and s.job_id = v_job.job_id and s.stage_id >= v_from
      and s.task_type in (select json_array_elements_text(task_types))
    order by s.stage_id, r.ordinal
    limit least(greatest(page_rows, 1), 1000) + 1
  ),
  kept as (
    select * from page p where p.n <= least(greatest(page_rows, 1), 1000) and (p.bytes <= c_bytes or p.n = 1)
  )
  select
    coalesce(json_agg(json_build_object('task_id', k.stage_id || '-' || k.ordinal, 'task_type', k.task_type, 'result', k.result,
      'spill', k.spill) order by k.stage_id, k.ordinal), '[]'),
    (select l.stage_id || '-' || l.ordinal from kept l order by l.n desc limit 1), (select count(*) from page) > count(*)
  into v_items, v_last, v_more
  from kept k;
  return json_build_object('job_id', v_job.job_id, 'items', v_items, 'next', case when v_more then v_last end);
end $$;
grant execute on function app.read_job_results(text, json, text, integer, text) to fanfold_worker, fanfold_admin;
