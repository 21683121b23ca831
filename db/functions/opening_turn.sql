-- Where the tasks of a stage that opens stand in their tenant's order. Few tasks of a job that has begun go first, so that a small job of
-- several stages ends soon; a job that has other stages open has had that advantage, and takes its turn. Looking at a few stages
-- before it is enough to know.
create or replace function app.opening_turn(stage app.stages, tasks bigint)
returns bigint
language plpgsql stable
as $$
declare
  c_small constant integer := 100;
  c_near constant integer := 16;
begin
  if stage.job_id is null or tasks > c_small or exists (
    select from app.stages o
     where o.tenant_id = stage.tenant_id and o.job_id = stage.job_id and o.number < stage.number and o.number >= stage.number - c_near
       and o.status in ('planning', 'processing')) then
    return app.ring_turn(stage.job_id, stage.stage_id);
  end if;
  return case when stage.number > 1 and stage.epoch = 1 then 0 else app.place_of(now()) end;
end $$;
