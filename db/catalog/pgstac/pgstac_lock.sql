-- One writer at a time. pgSTAC changes a partition's constraints and then refreshes views over all partitions: two writers, even of two
-- collections, would wait for each other in a circle. Held to the end of the transaction.
create or replace function stac.pgstac_lock()
returns void
language sql
as $$ select pg_advisory_xact_lock(7308324466020482) $$;
