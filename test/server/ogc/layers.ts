// Layers for tests of the OGC API, made by SQL as a load leaves them: a table of the schema geo, its row in the catalogue of layers, and
// what it was before.
import type { Database } from "../../../src/engine/database/database.js";

export interface MadeLayer {
  tenant?: string;
  name: string;
  title?: string;
  /** name: [type, Postgres type]; the first that is a time is the layer's. */
  columns: Record<string, [type: string, pg_type: string]>;
  /** A query that gives fid, the columns and geom, in their order. */
  rows: string;
  srid?: number;
  geometry_type?: string | null;
  time_column?: string;
  /** Of a table that was there before: it stays for those who page in it, unless it is dropped. */
  drop_before?: boolean;
}

let tables = 0;

/** Makes the layer, or replaces it in one transaction. */
export async function putLayer(db: Database, layer: MadeLayer): Promise<void> {
  const { tenant = "default", name, columns, srid = 4326, geometry_type = "Geometry", time_column } = layer;
  const table = `t_${process.pid}_${++tables}`;
  const has_geometry = geometry_type !== null;
  const declared = Object.entries(columns).map(([column, [type, pg_type]]) => ({
    name: column,
    type,
    pg_type,
    source_name: column,
  }));
  const wanted = declared.map((one) => `"${one.name}" ${one.pg_type}`);
  const geometry = has_geometry ? [`geom geometry(Geometry, ${srid})`] : [];
  await db.transaction(async (tx) => {
    await tx.script(`
      create table geo.${table} (${["fid bigint primary key", ...wanted, ...geometry].join(", ")});
      insert into geo.${table} ${layer.rows};
      ${has_geometry ? `create index on geo.${table} using gist (geom);` : ""}
      analyze geo.${table};
      alter table geo.${table} owner to fanfold_owner;
      set local role fanfold_owner;
      select geo.protect_table('${table}', '${tenant}');
      reset role`);
    const [before] = await tx.sql<{ table_name: string; version: number }>`
      select table_name, version from geo.layers where tenant_id = ${tenant} and name = ${name}`;
    const box = has_geometry
      ? `(select array[st_xmin(e), st_ymin(e), st_xmax(e), st_ymax(e)] from (select st_extent(st_transform(geom, 4326)) e from geo.${table}) x where e is not null)`
      : "null";
    const quoted = (text: string | null | undefined) => (text === null || text === undefined ? "null" : `'${text}'`);
    await tx.script(`
      insert into geo.layers (tenant_id, name, title, table_name, version, feature_count, extent, columns, geometry_column, geometry_type, srid, time_column)
      select '${tenant}', '${name}', ${quoted(layer.title)}, '${table}', ${(before?.version ?? 0) + 1}, (select count(*) from geo.${table}), ${box},
        '${JSON.stringify(declared)}', ${has_geometry ? "'geom'" : "null"}, ${quoted(geometry_type)}, ${has_geometry ? srid : "null"}, ${quoted(time_column)}
      on conflict (tenant_id, name) do update set table_name = excluded.table_name, version = excluded.version, feature_count = excluded.feature_count,
        extent = excluded.extent, columns = excluded.columns, geometry_type = excluded.geometry_type, srid = excluded.srid, updated_at = now();
      insert into geo.layer_versions (tenant_id, name, version, mode, table_name, feature_count, extent, columns, key_column, geometry_column, geometry_type, srid, time_column, source)
      select tenant_id, name, version, 'replace', table_name, feature_count, extent, columns, key_column, geometry_column, geometry_type, srid, time_column, source
        from geo.layers where tenant_id = '${tenant}' and name = '${name}'`);
    if (before !== undefined && layer.drop_before === true)
      await tx.script(`
        update geo.layer_versions set table_name = null where table_name = '${before.table_name}';
        drop table geo."${before.table_name}"`);
  });
}

/** A grid of points, one a degree: `fid`, `name`, `n`, `weight`, `good`, `day`, `seen`, `tags`. */
export const grid_columns: MadeLayer["columns"] = {
  name: ["string", "text"],
  n: ["integer", "integer"],
  weight: ["number", "double precision"],
  good: ["boolean", "boolean"],
  day: ["date", "date"],
  seen: ["datetime", "timestamptz"],
  tags: ["json", "jsonb"],
};

export function gridRows(count: number, { srid = 4326, wide = 20 } = {}): string {
  return `
    select i, case when i % 7 = 0 then null else 'Näme ' || i end, i % 10, i / 4.0, i % 2 = 0, date '2024-01-01' + i,
      timestamptz '2024-01-01T12:00:00Z' + i * interval '1 day', jsonb_build_array('t' || i % 3, 'all'),
      st_transform(st_setsrid(st_makepoint(i % ${wide}, 40 + i / ${wide} * 0.5), 4326), ${srid})
      from generate_series(1, ${count}) i`;
}
