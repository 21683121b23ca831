-- The low zooms of a large layer, made when it is loaded: tiles of the table that it lies in, gone when that changes or is dropped.

set local role fanfold_owner;

create table geo.pyramids (
  table_name text collate "C" primary key references geo.tables on delete cascade,
  tenant_id text collate "C" not null references app.tenants,
  -- Tiles of the zooms before this one are all here; one that is not has nothing in it.
  zooms integer not null,
  made_at timestamptz not null default now(),
  constraint there_is_a_zoom check (zooms > 0)
);

create table geo.pyramid_tiles (
  table_name text collate "C" not null references geo.pyramids on delete cascade,
  zoom integer not null,
  tile_column integer not null,
  tile_row integer not null,
  tenant_id text collate "C" not null references app.tenants,
  tile bytea,
  -- Where PostGIS makes no vector tiles: as read_tile gives them.
  features jsonb,
  -- Stands something in it for others?
  thinned boolean not null,
  primary key (table_name, zoom, tile_column, tile_row),
  constraint a_tile_is_one_or_the_other check (num_nulls(tile, features) = 1)
);

do $$
declare
  v_table text;
begin
  foreach v_table in array array['pyramids', 'pyramid_tiles'] loop
    execute format('alter table geo.%I enable row level security, force row level security', v_table);
    execute format('create policy owner_sees_all on geo.%I to fanfold_owner using (true) with check (true)', v_table);
    execute format(
      'create policy tenant_reads_its_own on geo.%I for select to fanfold_api, fanfold_worker, fanfold_admin '
      || 'using (tenant_id = (select app.current_tenant()))', v_table);
    execute format('grant select on geo.%I to fanfold_api, fanfold_worker, fanfold_admin', v_table);
  end loop;
end $$;

reset role;
