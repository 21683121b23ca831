-- A worker that is gone is known by its connection long before its lease is over.

set local role fanfold_owner;

-- The session that its last heartbeat came by.
alter table app.workers add column backend_pid integer;

reset role;
