-- What of a closed stage did not end well: failed, or never ran. Skipped is a decision, and stays.
create or replace function app.unfinished_ordinals(ledger app.stage_progress)
returns int8multirange
language plpgsql stable
as $$
begin
  return coalesce(
      (select range_agg(int8range(r.ordinal, r.ordinal + 1)) from app.results r where r.stage_id = ledger.stage_id and r.status = 'failed'), '{}')
    + case when ledger.remaining > 0 then app.absent_ordinals(ledger.stage_id, ledger.total) else '{}' end;
end $$;
