-- The opening_turn of one stage, which looks for the others of its job itself.
create or replace function app.turn_of_stage(stage app.stages, tasks bigint)
returns bigint
language plpgsql stable
as $$
begin
  return app.opening_turn(stage.job_id, stage.stage_id, tasks, exists (
    select from app.stages o
     where o.tenant_id = stage.tenant_id and o.job_id = stage.job_id and o.number < stage.number and o.status in ('planning', 'processing')),
    stage.after <> '{}' and stage.epoch = 1);
end $$;
