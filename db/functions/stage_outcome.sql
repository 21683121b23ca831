-- Rule 5, first half: how a stage ended, from its ledger and its failure budget.
create or replace function app.stage_outcome(total bigint, failed bigint, budget_count bigint, budget_percent numeric)
returns app.stage_status
language sql immutable
as $$
  select case
    when failed = 0 then 'completed'
    when failed <= app.stage_allows(total, budget_count, budget_percent) then 'partial_success'
    else 'failed'
  end::app.stage_status
$$;
