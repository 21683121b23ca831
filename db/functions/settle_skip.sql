-- The ledger of an open stage counts one skipped task more; the last one out closes the stage.
create or replace function app.settle_skip(stage app.stages)
returns void
language plpgsql
as $$
declare
  v_remaining bigint;
  v_job app.jobs;
begin
  if stage.job_id is null then
    return;
  end if;
  update app.stage_progress p
     set skipped = p.skipped + 1, remaining = p.remaining - 1, is_open = p.remaining > 1
   where p.stage_id = stage.stage_id and p.is_open
  returning p.remaining into v_remaining;
  if not found then
    raise exception 'stage "%" closed at this very moment', stage.name using errcode = 'FF006', hint = 'try again';
  end if;
  if v_remaining = 0 then
    select * into v_job from app.jobs j where j.tenant_id = stage.tenant_id and j.job_id = stage.job_id for update;
    select * into stage from app.stages s where s.stage_id = stage.stage_id;
    perform app.close_stage(stage, null, null);
    perform app.advance_job(v_job);
  end if;
end $$;
