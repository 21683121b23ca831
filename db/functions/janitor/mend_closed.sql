-- The ledger of a closed stage is counted anew from its results.
create or replace function app.mend_closed(stage bigint)
returns void
language plpgsql
as $$
begin
  perform app.lock_jobs_of(array[stage]);
  update app.stage_progress p
     set completed = c.completed, failed = c.failed, skipped = c.skipped,
         total = greatest(p.total, c.completed + c.failed + c.skipped),
         remaining = greatest(p.total, c.completed + c.failed + c.skipped) - c.completed - c.failed - c.skipped
    from (
      select count(*) filter (where r.status = 'completed') as completed, count(*) filter (where r.status = 'failed') as failed,
        count(*) filter (where r.status = 'skipped') as skipped
        from app.results r where r.stage_id = stage) c
   where p.stage_id = stage and not p.is_open;
end $$;
