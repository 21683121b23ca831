-- The boxes that results of a stage carry, of these ordinals: [[ordinal, bbox as it stands]]. Results may be large: no more than
-- 5,000 are opened at once.
create or replace function app.result_boxes(job_id text, stage text, ordinals int8multirange, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), result_boxes.job_id);
  v_stage app.stages := app.find_stage(v_job, result_boxes.stage);
begin
  if app.held_count(ordinals) > 5000 then
    raise exception 'at most 5000 results are opened at once, not %', app.held_count(ordinals) using errcode = 'FF002';
  end if;
  return coalesce((
    select json_agg(json_build_array(r.ordinal, r.bbox))
      from unnest(ordinals) w
      cross join lateral (
        select q.ordinal, q.result -> 'bbox' as bbox from app.results q
         where q.stage_id = v_stage.stage_id and q.ordinal >= lower(w) and q.ordinal < upper(w) and q.status = 'completed'
        offset 0) r
     where jsonb_typeof(r.bbox) = 'array' and pg_column_size(r.bbox) < 200), '[]');
end $$;
grant execute on function app.result_boxes(text, text, int8multirange, text) to fanfold_api, fanfold_admin;
