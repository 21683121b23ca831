-- The vitals of the database, all from what the server keeps anyway. What sessions of other roles hold back is only seen with
-- pg_read_all_stats, which the migration grants where it may.
create or replace function app.measure_database()
returns json
language plpgsql stable
as $$
begin
  return (
    select json_build_object(
        'size_bytes', pg_database_size(d.datid), 'connections', d.numbackends, 'connection_limit', current_setting('max_connections')::integer,
        'commits', d.xact_commit, 'rollbacks', d.xact_rollback, 'deadlocks', d.deadlocks,
        'locks_waiting', (select count(*) from pg_locks l where not l.granted and l.database = d.datid),
        'stats_visible', pg_has_role(current_user, 'pg_read_all_stats', 'usage'),
        'oldest_xmin_age', (
          select coalesce(max(held.age), 0)
            from (
              select greatest(age(a.backend_xmin), age(a.backend_xid)) as age
                from pg_stat_activity a
               where a.pid <> pg_backend_pid() and a.backend_type is distinct from 'autovacuum worker'
              union all
              select greatest(age(s.xmin), age(s.catalog_xmin)) from pg_replication_slots s
              union all
              select age(p.transaction) from pg_prepared_xacts p
            ) held),
        'oldest_transaction_s', (
          select coalesce(extract(epoch from now() - min(a.xact_start)), 0)
            from pg_stat_activity a
           where a.datid = d.datid and a.pid <> pg_backend_pid() and a.backend_type = 'client backend'),
        'tables', (
          select coalesce(json_agg(json_build_array(t.relname, t.n_dead_tup, t.n_live_tup) order by t.relname), '[]')
            from pg_stat_user_tables t
           where t.schemaname = 'app'))
      from pg_stat_database d
     where d.datname = current_database());
end $$;
