-- The other transactions that run in this database now, or those of `among` that still do. The mover of a tenant has written something that they must
-- heed, and waits until those are over that may not have seen it.
create or replace function app.running_transactions(among json default null)
returns json
language sql stable security definer
set search_path = pg_catalog, app, pg_temp
as $$
  select coalesce(json_agg(l.virtualtransaction), '[]')
    from pg_locks l
    join pg_stat_activity a on a.pid = l.pid
   where l.locktype = 'virtualxid' and l.pid <> pg_backend_pid() and a.datname = current_database() and a.usesysid is not null
     and (among is null or l.virtualtransaction in (select json_array_elements_text(among)))
$$;
grant execute on function app.running_transactions(json) to fanfold_api, fanfold_admin;
