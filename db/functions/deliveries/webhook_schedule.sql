-- Seconds before each try of a delivery, the first at once: after seconds, then minutes, then every hour, three days in all. A receiver
-- that was away for a minute is told within minutes, and one that is away over a weekend is still told. docs/webhooks.md has the table.
create or replace function app.webhook_schedule()
returns double precision[]
language sql immutable
as $$ select array[0, 5, 15, 60, 180, 600, 1800]::double precision[] || array_fill(3600::double precision, array[71]) $$;
