-- Rule 5, between stages: what becomes of a stage when everything it waits for has ended.
-- 'open', or why it is skipped: 'upstream' (a predecessor that is not optional failed, or one was cancelled: a failed critical one
-- has usually cancelled this stage already, but the repair of another branch may have opened it) or 'when' (all were skipped).
create or replace function app.opening_decision(
  statuses app.stage_status[], importances app.importance[], skip_reasons text[])
returns text
language plpgsql immutable
as $$
begin
  return (
    select case
      when count(*) = 0 then 'open'
      when bool_or(s = 'failed' and i <> 'optional') or bool_or(s = 'cancelled') or bool_or(s = 'skipped' and r = 'upstream') then 'upstream'
      when bool_and(s = 'skipped') then 'when'
      else 'open'
    end
    from unnest(statuses, importances, skip_reasons) as before(s, i, r));
end $$;
