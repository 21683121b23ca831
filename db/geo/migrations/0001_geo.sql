-- Vector layers of tenants: the catalogue of them, and what is known of the tables they lie in. Each layer is a table of its own in this
-- schema; a load makes a new table and the catalogue's row says from its commit on that this one is the layer.

alter schema geo owner to fanfold_owner;
grant usage on schema geo to fanfold_api, fanfold_worker, fanfold_admin, fanfold_handler;
grant usage on schema @postgis@ to fanfold_owner;
grant select on geo.schema_migrations, geo.schema_functions to fanfold_owner, fanfold_api, fanfold_worker, fanfold_admin;
alter default privileges for role fanfold_owner in schema geo revoke execute on functions from public;
set local role fanfold_owner;

-- Names of tables are numbers, because every login reads pg_class: a name that tells would tell it to other tenants.
create sequence geo.table_numbers;

create table geo.layers (
  tenant_id text collate "C" not null references app.tenants,
  -- The collection's id in every service.
  name text collate "C" not null,
  title text,
  description text,
  -- In this schema.
  table_name text collate "C" not null,
  -- Grows with every change of the layer, also over an unpublish: ETag and key of caches.
  version bigint not null,
  feature_count bigint not null,
  -- West, south, east, north in CRS84; null when no feature has a place.
  extent double precision[],
  -- [{name, type: string|integer|number|boolean|date|datetime|json, pg_type, source_name, title?}], without key and geometry.
  columns jsonb not null default '[]',
  key_column text not null default 'fid',
  geometry_column text,
  geometry_type text,
  srid integer,
  time_column text,
  styles jsonb not null default '{}',
  -- Which files and layers of them it came from.
  source jsonb not null default '{}',
  release jsonb,
  -- The job that made this version; it may be gone by now.
  job_id text collate "C",
  item_id text,
  collection text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, name),
  constraint name_is_a_collection_id check (name ~ '^[a-z0-9][a-z0-9_-]{0,127}$'),
  constraint version_begins_at_1 check (version >= 1),
  constraint features_are_counted check (feature_count >= 0),
  constraint extent_is_a_box check (extent is null or array_length(extent, 1) = 4),
  constraint columns_are_a_list check (jsonb_typeof(columns) = 'array'),
  constraint geometry_has_column_type_and_crs check (num_nulls(geometry_column, geometry_type, srid) in (0, 3))
);

-- What a layer was. The table of a version that is not served any more stays for a while, so that who pages in it can go on.
create table geo.layer_versions (
  tenant_id text collate "C" not null,
  name text collate "C" not null,
  version bigint not null,
  -- create, replace, append, upsert or unpublish.
  mode text not null,
  -- Null once the table is gone. Versions that an append or an upsert made have their table in common.
  table_name text collate "C",
  feature_count bigint not null,
  extent double precision[],
  columns jsonb not null,
  key_column text not null,
  geometry_column text,
  geometry_type text,
  srid integer,
  time_column text,
  source jsonb not null,
  release jsonb,
  job_id text collate "C",
  rejected_count bigint not null default 0,
  created_at timestamptz not null default now(),
  -- When another version took its place.
  retired_at timestamptz,
  primary key (tenant_id, name, version),
  foreign key (tenant_id) references app.tenants,
  constraint mode_is_known check (mode in ('create', 'replace', 'append', 'upsert', 'unpublish'))
);

-- Every table here that holds rows of a tenant, whatever it is at the moment.
create table geo.tables (
  table_name text collate "C" primary key,
  tenant_id text collate "C" not null references app.tenants,
  -- stage: raw rows of one attempt; candidate: becomes a layer when its load is published; layer: is one, or was one.
  kind text not null,
  job_id text collate "C",
  -- Of a candidate: what its columns are to be; of a stage: its candidate and its chunk.
  facts jsonb not null default '{}',
  created_at timestamptz not null default now(),
  touched_at timestamptz not null default now(),
  -- Dropped after this moment.
  doomed_at timestamptz,
  constraint kind_is_known check (kind in ('stage', 'candidate', 'layer'))
);
create index tables_to_drop on geo.tables (doomed_at) where doomed_at is not null;
create index tables_of_loads on geo.tables (tenant_id, job_id) where kind <> 'layer';

-- Chunks of a load that are in its candidate. The key is what keeps a second attempt from adding the same rows again.
create table geo.chunks (
  table_name text collate "C" not null references geo.tables on delete cascade,
  chunk integer not null,
  tenant_id text collate "C" not null references app.tenants,
  facts jsonb not null,
  loaded_at timestamptz not null default now(),
  primary key (table_name, chunk)
);

-- Rows that could not be loaded, and why. They belong to the job that met them.
create table geo.rejects (
  tenant_id text collate "C" not null references app.tenants,
  job_id text collate "C" not null,
  layer text collate "C" not null,
  chunk integer not null,
  -- The row's number in its source layer, from 1.
  row_number bigint not null,
  source text not null,
  code text not null,
  reason text not null,
  -- The row's values as text, by the names they have in the source; long ones cut.
  properties jsonb,
  created_at timestamptz not null default now(),
  primary key (tenant_id, job_id, layer, chunk, row_number)
);

do $$
declare
  v_table text;
begin
  foreach v_table in array array['layers', 'layer_versions', 'tables', 'chunks', 'rejects'] loop
    execute format('alter table geo.%I enable row level security', v_table);
    execute format('alter table geo.%I force row level security', v_table);
    execute format('create policy owner_sees_all on geo.%I to fanfold_owner using (true) with check (true)', v_table);
    execute format(
      'create policy tenant_reads_its_own on geo.%I for select to fanfold_api, fanfold_worker, fanfold_admin '
      || 'using (tenant_id = (select app.current_tenant()))', v_table);
    execute format('grant select on geo.%I to fanfold_api, fanfold_worker, fanfold_admin', v_table);
  end loop;
end $$;

reset role;
