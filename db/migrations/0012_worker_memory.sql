-- What a worker says about its memory: how much the isolated tasks it runs may declare together, how much those that run do, and
-- the types it leaves to others because one task of them needs more than all of it (MB by type).

set local role fanfold_owner;

alter table app.workers
  add column memory_mb integer,
  add column memory_used_mb integer,
  add column too_large jsonb not null default '{}',
  add constraint memory_is_a_count check (memory_mb >= 0 and memory_used_mb >= 0),
  add constraint too_large_is_an_object check (jsonb_typeof(too_large) = 'object');

reset role;
