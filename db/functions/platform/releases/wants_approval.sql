-- Does what this recipe makes of a request wait for a person? The recipe says so, or leaves it to the caller, who says so.
create or replace function platform.wants_approval(recipe jsonb, parameters jsonb)
returns boolean
language sql immutable
as $$ select coalesce(recipe -> 'approval' = 'true', false) or coalesce(parameters -> 'approval' = 'true', false) $$;
