-- The ledger of an open stage counts one skipped task more; the last one out closes the stage.
create or replace function app.settle_skip(stage app.stages)
returns void
language plpgsql
as $$
begin
  if stage.job_id is null then
    return;
  end if;
  update app.stage_progress p
     set skipped = p.skipped + 1, remaining = p.remaining - 1, is_open = p.remaining > 1
   where p.stage_id = stage.stage_id and p.is_open;
  if not found then
    raise exception 'stage "%" closed at this very moment', stage.name using errcode = 'FF006', hint = 'try again';
  end if;
  -- The caller may have read it before another verb let go of the job: with an open ledger it is processing.
  select * into stage from app.stages s where s.stage_id = stage.stage_id;
  perform app.close_if_done(stage);
end $$;
