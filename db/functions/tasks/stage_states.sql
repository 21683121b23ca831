-- Where each task of a stage is, as ranges: what ended by status and attempt, what is held, what may run, now or later. What is in
-- none of them never ran. Read by the stage's key; `total` is null until it is planned. With the stamp that the caller `known` of, and
-- nothing moved since, only that is told: what moves a task moves its ledger, or a range.
create or replace function app.stage_states(job_id text, stage text, known text default null, tenant text default null)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, app, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_job app.jobs := app.find_job(app.acting_tenant(tenant), stage_states.job_id);
  v_stage app.stages := app.find_stage(v_job, stage_states.stage);
  v_stamp text;
begin
  select md5(concat_ws(' ', v_stage.stage_id, v_stage.status, v_stage.epoch, v_stage.opened_at, v_stage.closed_at, v_stage.total,
      (select p from app.stage_progress p where p.stage_id = v_stage.stage_id),
      (select (count(*), sum(w.lo), sum(w.hi), max(w.ready_id), count(*) filter (where w.run_at > now()))
         from app.ready w where w.stage_id = v_stage.stage_id),
      (select (count(*), max(k.claim_id), sum(app.held_count(k.held))) from app.claims k where k.stage_id = v_stage.stage_id)))
    into v_stamp;
  return json_build_object(
    'job_id', v_job.job_id, 'stage_id', v_stage.stage_id, 'stage', v_stage.name, 'number', v_stage.number, 'status', v_stage.status,
    'epoch', v_stage.epoch, 'total', v_stage.total, 'stamp', v_stamp,
    'ended', case when v_stamp is distinct from known then coalesce((
      select json_agg(json_build_array(g.status, g.attempt, g.ordinals::text))
        from (
          select r.status, r.attempt, range_agg(int8range(r.ordinal, r.ordinal + 1)) as ordinals
            from app.results r
           where r.stage_id = v_stage.stage_id
           group by r.status, r.attempt) g), '[]') end,
    'held', case when v_stamp is distinct from known then coalesce((
      select json_agg(json_build_array(k.attempt, k.held::text)) from app.claims k where k.stage_id = v_stage.stage_id), '[]') end,
    'ready', case when v_stamp is distinct from known then coalesce((
      select json_agg(json_build_array(w.attempt, w.lo, w.hi, w.run_at > now(), w.throttles > 0))
        from app.ready w
       where w.stage_id = v_stage.stage_id), '[]') end);
end $$;
grant execute on function app.stage_states(text, text, text, text) to fanfold_api, fanfold_admin;
