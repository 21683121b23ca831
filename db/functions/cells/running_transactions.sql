-- The transactions of others that run in this database now, or of `among` those that still do: whoever has written something that others must heed
-- waits until those that may not have seen it are over.
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
