-- Why an open stage does not move, or that it does (RUNNING); null when its rows show no reason. What somebody decided comes
-- first, then proof of progress, then what is held and goes no further, then what waits.
create or replace function app.why_stage(stage app.stages)
returns json
language plpgsql stable
as $$
declare
  v_paused json;
  v_held json;
  v_row app.ready;
begin
  if stage.status = 'waiting_approval' then
    return app.why_approval(stage);
  end if;
  v_paused := app.why_type_paused(stage);
  if v_paused is not null then
    return v_paused;
  end if;
  v_held := app.why_held_of(stage);
  if v_held is not null then
    return v_held;
  end if;
  select * into v_row from app.ready r
   where r.stage_id = stage.stage_id
   order by r.run_at > now(), case when r.run_at > now() then r.run_at end, r.priority desc, r.run_at, r.ready_id
   limit 1;
  if found then
    return app.why_queued(stage, v_row, v_row.lo);
  end if;
  return null;
end $$;
