-- A text in small letters, of every script: the database's own locale may know ASCII only, so the best collation there is decides.
do $$
declare
  v_collation text := (
    select c.collname from pg_collation c
     where c.collnamespace = 'pg_catalog'::regnamespace and c.collname in ('pg_c_utf8', 'und-x-icu')
       and c.collencoding in (-1, (select d.encoding from pg_database d where d.datname = current_database()))
     order by c.collname limit 1);
begin
  execute format(
    'create or replace function stac.without_case(value text) returns text language sql immutable strict parallel safe return lower(value collate pg_catalog.%I)',
    coalesce(v_collation, 'default'));
end $$;
