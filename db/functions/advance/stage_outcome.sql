-- Rule 5, first half: how a stage ended, from its ledger and its failure budget. Each outcome is a constant of its type: with a cast around
-- them all it would be planned anew at each call instead of becoming a part of the caller.
create or replace function app.stage_outcome(total bigint, failed bigint, budget_count bigint, budget_percent numeric)
returns app.stage_status
language sql immutable
as $$
  select case
    when failed = 0 then app.stage_status 'completed'
    when failed <= app.stage_allows(total, budget_count, budget_percent) then app.stage_status 'partial_success'
    else app.stage_status 'failed'
  end
$$;
