-- The rows that did not become features of a layer, by job and by their place in the source, page by page; also where the load failed and there
-- is no such layer. Jobs that split a layer by a column keep its rejects under the name they were loaded as. Of the codes it tells how often
-- each is there, in the first 10,000.
create or replace function geo.list_layer_rejects(
  layer_id text, job_id text default null, code text default null, page_rows integer default 50, cursor text default null, tenant text default null)
returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, geo, app, pg_temp
set timezone = 'UTC'
as $$
declare
  c_counted constant integer := 10000;
  v_tenant text := app.acting_tenant(tenant);
  v_rows integer := app.page_rows(page_rows);
  v_names text[];
  v_jobs text[];
  v_job text;
  v_after text[] := regexp_match(cursor, '^([^ ]{1,64}) ([^ ]{1,128}) (\d{1,9}) (\d{1,18})$');
  v_reply jsonb;
begin
  if cursor is not null and v_after is null then
    raise exception 'the cursor is none of this list' using errcode = 'FF002', hint = 'send `next` of the page before unchanged, or leave it out';
  end if;
  v_job := list_layer_rejects.job_id;
  -- The first 1,000 jobs are more than any page shows.
  select array_agg(distinct v.job_id) into v_jobs from (
    select v.job_id from geo.layer_versions v
     where v.tenant_id = v_tenant and v.name = layer_id and v.job_id is not null and (v_job is null or v.job_id = v_job)
     order by v.version desc limit 1000) v;
  with mine as not materialized (
    select r.* from geo.rejects r
     where r.tenant_id = v_tenant and r.layer = layer_id and (v_job is null or r.job_id = v_job)
       and (list_layer_rejects.code is null or r.code = list_layer_rejects.code)
    union all
    select r.* from geo.rejects r
     where r.tenant_id = v_tenant and r.job_id = any (v_jobs) and r.layer <> layer_id and starts_with(layer_id, r.layer || '_')
       and not exists (select from geo.layer_versions o where o.tenant_id = v_tenant and o.job_id = r.job_id and o.name = r.layer)
       and (list_layer_rejects.code is null or r.code = list_layer_rejects.code)
  ),
  page as (
    select m.* from mine m
     where v_after is null or (m.job_id, m.layer, m.chunk, m.row_number) > (v_after[1], v_after[2], v_after[3]::integer, v_after[4]::bigint)
     order by m.job_id, m.layer, m.chunk, m.row_number
     limit v_rows + 1
  ),
  shown as (select * from page order by job_id, layer, chunk, row_number limit v_rows),
  counted as (select m.code from mine m limit c_counted)
  select jsonb_build_object(
      'rejects', coalesce((
        select jsonb_agg(jsonb_build_object('job_id', s.job_id, 'layer', s.layer, 'chunk', s.chunk, 'row_number', s.row_number, 'source', s.source,
            'code', s.code, 'reason', s.reason, 'properties', s.properties, 'created_at', s.created_at)
          order by s.job_id, s.layer, s.chunk, s.row_number)
          from shown s), '[]'),
      'next', case when (select count(*) from page) > v_rows then (
        select format('%s %s %s %s', s.job_id, s.layer, s.chunk, s.row_number)
          from shown s order by s.job_id desc, s.layer desc, s.chunk desc, s.row_number desc limit 1) end,
      'codes', coalesce((select jsonb_object_agg(k.code, k.count) from (select c.code, count(*) from counted c group by 1) k), '{}'),
      'counted_all', (select count(*) from counted) < c_counted)
    into v_reply;
  if v_reply -> 'rejects' = '[]' then
    perform geo.check_known(v_tenant, layer_id);
  end if;
  return v_reply;
end $$;
grant execute on function geo.list_layer_rejects(text, text, text, integer, text, text) to fanfold_api, fanfold_admin;
