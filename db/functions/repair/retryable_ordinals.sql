-- Returns those of these ordinals of a stage that stand at one of the statuses failed, skipped (but not because they vanished from the plan)
-- and cancelled.
create or replace function app.retryable_ordinals(stage app.stages, statuses text[], ordinals int8multirange)
returns int8multirange
language plpgsql stable
as $$
begin
  return (
    select case when 'failed' = any (statuses) then o.failed else '{}' end
        + case when 'skipped' = any (statuses) then o.skipped else '{}' end
        + case when 'cancelled' = any (statuses) then o.cancelled else '{}' end
      from app.ordinals_by_status(stage, ordinals) o);
end $$;
