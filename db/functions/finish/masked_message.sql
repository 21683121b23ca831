-- A message without what differs between two failures of one kind: URLs and paths, quoted texts, hex ids and UUIDs, numbers.
create or replace function app.masked_message(message text)
returns text
language sql immutable
as $$
  select regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(left(coalesce(message, ''), 1000),
    '[a-zA-Z][a-zA-Z0-9+.-]*://[^\s"'']+', '<url>', 'g'),
    '(^|[\s"''(=:])(?:[A-Za-z]:\\|\.{0,2}/)[^\s"'')]*', '\1<path>', 'g'),
    '\m[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\M', '<id>', 'gi'),
    '\m(?=[0-9a-f]*[0-9])[0-9a-f]{8,}\M', '<id>', 'gi'),
    '[-+]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?', '<n>', 'gi')
$$;
