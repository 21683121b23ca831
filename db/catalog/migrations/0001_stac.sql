-- Collections and items of tenants, on PostGIS. @postgis@ is the schema that extension is in. Columns of items are called as
-- pgSTAC calls them, so that one search reads either.

alter schema stac owner to fanfold_owner;
grant usage on schema stac to fanfold_api, fanfold_worker, fanfold_admin;
grant usage on schema @postgis@ to fanfold_owner;
grant select on stac.schema_migrations, stac.schema_functions to fanfold_owner, fanfold_api, fanfold_worker, fanfold_admin;
alter default privileges for role fanfold_owner in schema stac revoke execute on functions from public;
set local role fanfold_owner;

create table stac.collections (
  tenant_id text collate "C" not null references app.tenants,
  id text collate "C" not null,
  content jsonb not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, id),
  constraint collection_id_is_of_1_to_256_bytes check (octet_length(id) between 1 and 256),
  constraint content_is_this_collection check (content ->> 'id' = id)
);

create table stac.items (
  tenant_id text collate "C" not null,
  collection text collate "C" not null,
  id text collate "C" not null,
  -- Null for an item without a place. Mended where the item's own is not valid: this one is only searched.
  geometry @postgis@.geometry,
  -- When it begins and ends: start_datetime and end_datetime where both are given, else datetime twice.
  datetime timestamptz not null,
  end_datetime timestamptz not null,
  -- The item as it was put.
  content jsonb not null,
  updated_at timestamptz not null default now(),
  primary key (tenant_id, collection, id),
  foreign key (tenant_id, collection) references stac.collections on delete cascade,
  constraint item_id_is_of_1_to_512_bytes check (octet_length(id) between 1 and 512),
  constraint item_ends_after_it_begins check (end_datetime >= datetime),
  constraint content_is_this_item check (content ->> 'id' = id and content ->> 'collection' = collection)
);
create index items_by_place on stac.items using gist (geometry);
-- The two orders that searches page in unless they ask for another: of all collections, and of one.
create index items_by_time on stac.items (tenant_id, datetime desc, collection, id);
create index items_of_a_collection_by_time on stac.items (tenant_id, collection, datetime desc, id);
create index items_by_id on stac.items (tenant_id, id);

do $$
declare
  v_table text;
begin
  foreach v_table in array array['collections', 'items'] loop
    execute format('alter table stac.%I enable row level security', v_table);
    execute format('alter table stac.%I force row level security', v_table);
    execute format('create policy owner_sees_all on stac.%I to fanfold_owner using (true) with check (true)', v_table);
    execute format(
      'create policy tenant_reads_its_own on stac.%I for select to fanfold_api, fanfold_worker, fanfold_admin '
      || 'using (tenant_id = (select app.current_tenant()))', v_table);
    execute format('grant select on stac.%I to fanfold_api, fanfold_worker, fanfold_admin', v_table);
  end loop;
end $$;

reset role;
