// Vector layers for the browser: hexagons with numbers over the Alps, replaced once with other columns, and stations as points; with the rows
// that a load did not take.

import { putLayer } from "../server/ogc/layers.js";
import type { TestService } from "../server/service.js";

export const hexagon_count = 104;
export const station_count = 400;
const job_id = "5eed".repeat(16);

export async function fillLayers(service: TestService, tenant = "default"): Promise<void> {
  const { db } = service;
  await service.key(tenant);
  const hexagons = (columns: string, size: number) => `
    select row_number() over (order by h.i, h.j), ${columns}, h.geom
      from st_hexagongrid(${size}, st_makeenvelope(5.4, 44, 15.5, 48, 4326)) h
     order by h.i, h.j`;
  const name = "land-cover-hexagons";
  await putLayer(db, {
    tenant,
    name,
    title: "Land cover by hexagon",
    columns: { forest: ["number", "double precision"] },
    geometry_type: "Polygon",
    rows: hexagons("0.5::double precision", 0.45),
  });
  await putLayer(db, {
    tenant,
    name,
    columns: {
      forest: ["number", "double precision"],
      cover: ["string", "text"],
      tiles: ["integer", "integer"],
      seen: ["date", "date"],
    },
    geometry_type: "Polygon",
    rows: hexagons(
      `round((50 + 45 * sin(h.i * 0.7) * cos(h.j * 0.5))::numeric, 1)::double precision, (array['forest', 'grass', 'rock', 'ice', 'water'])[1 + abs(h.i * 3 + h.j * 5) % 5],
       1 + abs(h.i * 7 + h.j) % 40, date '2031-05-01' + abs(h.i + h.j) % 30`,
      0.45,
    ),
  });
  await putLayer(db, {
    tenant,
    name: "stations",
    title: "Measuring stations",
    columns: { name: ["string", "text"], height: ["integer", "integer"], open: ["boolean", "boolean"] },
    geometry_type: "Point",
    rows: `select i, 'Station ' || i, (i * 37) % 3200, i % 3 > 0, st_setsrid(st_makepoint(6 + (i * 0.6180339) % 1 * 9, 44.5 + (i * 0.7548776) % 1 * 3.2), 4326)
             from generate_series(1, ${station_count}) i`,
  });
  await db.sql`
    update geo.layer_versions set job_id = ${job_id}, rejected_count = 24, mode = 'replace' where tenant_id = ${tenant} and name = ${name} and version = 2`;
  await db.sql`update geo.layers set job_id = ${job_id} where tenant_id = ${tenant} and name = ${name}`;
  await db.sql`
    insert into geo.rejects (tenant_id, job_id, layer, chunk, row_number, source, code, reason, properties)
    select ${tenant}, ${job_id}, ${name}, 0, n * 13, 'bronze:cover/hexagons.gpkg', case n % 3 when 0 then 'null_geometry' when 1 then 'bad_value' else 'out_of_range' end,
      case n % 3 when 0 then 'has no geometry' when 1 then 'invalid input syntax for type double precision: "n/a"' else 'lies outside the world: POLYGON((10 95,11 95,11 96,10 95))' end,
      jsonb_build_object('forest', 'n/a', 'cover', 'forest', 'seen', '2031-05-' || n)
      from generate_series(1, 24) n`;
}
