-- Seconds before each try of a delivery, the first at once: 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h (Standard Webhooks).
create or replace function app.webhook_schedule()
returns double precision[]
language sql immutable
as $$ select array[0, 5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400]::double precision[] $$;
