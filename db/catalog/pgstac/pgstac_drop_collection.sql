-- Deletes a collection and its partitions, which only pgSTAC's own role may: this function is that role's, and only our owner calls it.
create or replace function stac.pgstac_drop_collection(stored text)
returns void
language plpgsql security definer
set search_path = pgstac, @postgis@, pg_temp
set client_min_messages = warning
as $$
begin
  delete from pgstac.collections c where c.id = stored;
end $$;
reset role;
grant create, usage on schema stac to pgstac_admin;
alter function stac.pgstac_drop_collection(text) owner to pgstac_admin;
revoke create, usage on schema stac from pgstac_admin;
revoke all on function stac.pgstac_drop_collection(text) from public;
grant execute on function stac.pgstac_drop_collection(text) to fanfold_owner;
