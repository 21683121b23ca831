-- What of a tenant moves to another cell, those tables first to which others refer. What only runs stays: claims, locks, slots, workers; so do proofs
-- of files, sweeps, rounds of retention, and what is on its way out.
create or replace function app.tables_that_move()
returns table (name text, key_columns text[], place bigint)
language sql stable
as $$
  select t.name, t.key_columns, row_number() over (order by t.place desc)
    from (select a.name, a.key_columns, a.place from app.tables_of_tenants() with ordinality a (name, key_columns, place)) t
   where t.name not in (
     'app.claims', 'app.dependents_locks', 'app.file_places', 'app.group_changes', 'app.handler_statements', 'app.host_slots', 'app.named_locks',
     'app.removed_stages', 'app.retention_rounds', 'app.tenant_roles', 'app.workers', 'app.zone_sweeps', 'geo.tables', 'geo.chunks')
$$;
