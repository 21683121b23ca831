-- Returns the row of a table of the tenant's, and refuses a name that the tenant has no table of. The row is locked against being dropped and,
-- if told, against all others: parts of a load go into its candidate side by side, and it is sealed and published alone.
create or replace function geo.own_table(of_table text, of_kind text, of_tenant text, alone boolean default false)
returns geo.tables
language plpgsql
as $$
declare
  v_table geo.tables;
begin
  if alone then
    perform from geo.tables t where t.table_name = of_table for update;
  end if;
  select t.* into v_table from geo.tables t
   where t.table_name = of_table and t.tenant_id = of_tenant and t.kind = of_kind and t.doomed_at is null
     for share;
  if not found then
    perform geo.refuse(format('there is no %s "%s"', of_kind, left(of_table, 80)), 'load again: its load was given up or is over', 'FF001');
  end if;
  return v_table;
end $$;
