-- How patient we are when nobody says more, by what failed: the one place of these figures. docs/recovery.md shows them as a table,
-- and a test compares. attempts: so many are made however long they take, and no more once within_s is over; times: of what
-- spends no attempt, so often. Waits double from base_s to cap_s.
create or replace function app.retry_defaults()
returns table (kind text, attempts integer, within_s integer, times integer, base_s numeric, cap_s numeric)
language sql immutable rows 8
as $$
  values
    -- The other side is away: an outage is waited out.
    ('transient', 3, 600, null::integer, 1::numeric, 60::numeric),
    -- No room, which somebody has to make.
    ('storage', 3, 3600, null, 1, 60),
    -- Thrown, and nobody knows what it means.
    ('unexpected', 3, 120, null, 1, 60),
    -- An error of the kind that only code makes: it will hardly pass.
    ('bug', 3, 0, null, 1, 60),
    -- Its crashes are counted apart (app.crash_budget).
    ('crash', null, null, null, 1, 60),
    -- It was asked to wait.
    ('throttled', null, null, 100, 1, 60),
    -- The engine's own connection was lost. Bounded: what it was doing may be what kills it.
    ('engine', null, null, 20, 1, 60),
    -- The engine found no room for a result.
    ('spill', null, 3600, null, 1, 60)
$$;
