-- The boxes that were planned for tasks of a stage, in columns, of the ordinals from `from_ordinal` on and no more than `page_rows`
-- of them looked at; `next` is where the page after begins. Heights are left out.
create or replace function app.planned_boxes(
  job_id text, stage text, from_ordinal bigint default 0, page_rows integer default 20000, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), planned_boxes.job_id);
  v_stage app.stages := app.find_stage(v_job, planned_boxes.stage);
begin
  if page_rows not between 1 and 50000 then
    raise exception 'a page has 1 to 50000 rows, not %', page_rows using errcode = 'FF002';
  end if;
  return (
    select json_build_object(
        'ordinal', coalesce(json_agg(t.ordinal), '[]'), 'west', coalesce(json_agg(t.bbox[1]), '[]'), 'south', coalesce(json_agg(t.bbox[2]), '[]'),
        'east', coalesce(json_agg(t.bbox[cardinality(t.bbox) / 2 + 1]), '[]'),
        'north', coalesce(json_agg(t.bbox[cardinality(t.bbox) / 2 + 2]), '[]'),
        'next', case when from_ordinal + page_rows < v_stage.total then from_ordinal + page_rows end)
      from app.tasks t
     where t.stage_id = v_stage.stage_id and t.ordinal >= from_ordinal and t.ordinal < from_ordinal + page_rows and t.bbox is not null);
end $$;
grant execute on function app.planned_boxes(text, text, bigint, integer, text) to fanfold_api, fanfold_admin;
