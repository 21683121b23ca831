-- How many failures a stage's budget forgives.
create or replace function app.stage_allows(total bigint, budget_count bigint, budget_percent numeric)
returns bigint
language sql immutable
as $$ select coalesce(budget_count, floor(total * budget_percent / 100)::bigint, 0) $$;
