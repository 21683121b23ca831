-- The place of small work in its tenant's order: the moment it came, or was last served, in microseconds. See ready.turn.
create or replace function app.place_of(moment timestamptz)
returns bigint
language sql stable
as $$ select (extract(epoch from moment) * 1000000)::bigint $$;
