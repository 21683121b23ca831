-- Is this how something ends?
create or replace function platform.has_ended(status app.stage_status)
returns boolean
language sql immutable
as $$ select status in ('completed', 'partial_success', 'failed', 'skipped', 'cancelled') $$;
