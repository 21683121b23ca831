-- The tables that hold rows of tenants, those that refer to others before these, with the columns of their primary keys. Tables of single layers
-- are not among them: geo.tables names those.
create or replace function app.tables_of_tenants()
returns table (name text, key_columns text[])
language sql stable
as $$
  with recursive held as (
    select c.oid
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
     where n.nspname in ('app', 'platform', 'stac', 'geo') and c.relkind = 'r'
       and exists (select from pg_constraint p where p.conrelid = c.oid and p.contype = 'p')
       and not exists (
         select from pg_class g join pg_namespace s on s.oid = g.relnamespace
          where s.nspname = 'geo' and g.oid = c.oid and g.relname not in ('layers', 'layer_versions', 'tables', 'chunks', 'rejects'))
  ),
  -- How many tables stand between a table and one that refers to nothing of these.
  deep as (
    select h.oid, 0 as depth from held h
    union
    select f.conrelid, d.depth + 1
      from deep d
      join pg_constraint f on f.confrelid = d.oid and f.contype = 'f' and f.conrelid <> d.oid
     where f.conrelid in (select oid from held) and d.depth < 20
  )
  select format('%I.%I', n.nspname, c.relname), (
      select array_agg(a.attname::text order by k.place)
        from pg_constraint p
        cross join lateral unnest(p.conkey) with ordinality as k (number, place)
        join pg_attribute a on a.attrelid = p.conrelid and a.attnum = k.number
       where p.conrelid = d.oid and p.contype = 'p')
    from deep d
    join pg_class c on c.oid = d.oid
    join pg_namespace n on n.oid = c.relnamespace
   group by d.oid, n.nspname, c.relname
   order by max(d.depth) desc, n.nspname, c.relname
$$;
