// A layer of as many rows as a test wants, without a file: it would take longer to load than to export.
import type { RasterWorld } from "../jobs/raster_world.js";

export async function makeLayer({ db }: RasterWorld, name: string, rows: number): Promise<void> {
  const columns = [
    { name: "name", type: "string", pg_type: "text", source_name: "name" },
    { name: "share", type: "number", pg_type: "double precision", source_name: "share" },
  ];
  const spec = { columns, srid: 4326, has_geometry: true };
  const request = {
    mode: "create",
    columns,
    geometry_type: "Point",
    row_count: rows,
    source: {},
    extent: [-180, -85, 180, 85],
  };
  const [made] = await db.sql<{ table: string }>`
    select geo.make_candidate('soak', ${name}, ${JSON.stringify(spec)}::text::jsonb) as table`;
  await db.script(`
    insert into geo.${made!.table} select n, 'name ' || n, n / 7.0, st_setsrid(st_makepoint(-180 + (n * 7919) % 360, -85 + (n * 104729) % 170), 4326)
      from generate_series(1::bigint, ${rows}) n`);
  await db.sql`select geo.publish_layer(${made!.table}, ${name}, ${JSON.stringify(request)}::text::jsonb)`;
}
