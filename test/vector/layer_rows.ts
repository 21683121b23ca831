// Reads layers in tests, as the superuser: their row in the catalogue and their features.
import type { Database } from "../../src/engine/database/database.js";

export interface LayerRow {
  name: string;
  table_name: string;
  version: number;
  feature_count: number;
  extent: number[] | null;
  columns: { name: string; type: string; pg_type: string; source_name: string }[];
  geometry_type: string | null;
  srid: number | null;
  [field: string]: unknown;
}

export async function layerOf(db: Database, name: string, tenant = "default"): Promise<LayerRow | null> {
  const [layer] = await db.sql<LayerRow>`
    select l.*, l.feature_count::int as feature_count, l.version::int as version
      from geo.layers l where name = ${name} and tenant_id = ${tenant}`;
  return layer ?? null;
}

/** Features in the order of their keys, geometries as GeoJSON with seven digits. A statement cannot have a table as a parameter, a view can be made of one. */
export async function featuresOf(db: Database, layer: LayerRow): Promise<Record<string, unknown>[]> {
  const place = layer.geometry_type === null ? "null::text" : "st_asgeojson(st_snaptogrid(t.geom, 0.0000001))";
  await db.script(`
    create view public.features_of_a_test as
    select t.fid, to_jsonb(t) - 'geom' || jsonb_build_object('geom', ${place}) as feature from geo.${layer.table_name} t`);
  try {
    const rows = await db.sql<{ feature: Record<string, unknown> }>`
      select feature from public.features_of_a_test order by fid`;
    return rows.map(({ feature }) => feature);
  } finally {
    await db.script("drop view public.features_of_a_test");
  }
}
