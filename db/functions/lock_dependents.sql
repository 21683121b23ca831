-- Whoever is about to lock rows of *waiting* jobs beside others, or to end or repair a waiting job, holds this first. One lock for
-- all, because a cascade finds what it has to lock only as it goes, and no order of rows would hold for two cascades that meet.
-- Lock order: ready, claims, stage_progress, rows of jobs that run, this, rows of jobs that wait, groups (at commit). A job that
-- waits has nothing in ready, claims or progress, and its row is in nobody's finish: who holds this waits for nobody who wants it.
create or replace function app.lock_dependents()
returns void
language plpgsql
as $$
begin
  perform pg_advisory_xact_lock(7308324466020483);
end $$;
