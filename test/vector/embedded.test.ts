// The whole of it without a server and without a GDAL of the system's: the embedded database, the WASM engine, and GeoParquet, which no
// engine reads.
import { ByteWriter, parquetWrite } from "hyparquet-writer";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RasterWorld } from "../jobs/raster_world.js";
import { featuresOf, layerOf } from "./layer_rows.js";
import { collection, feature, square, towns } from "./vector_files.js";

let world: RasterWorld;
beforeAll(async () => {
  world = await RasterWorld.open("embedded");
  await world.worker();
}, 120_000);
afterAll(() => world?.close());

test("a GeoJSON becomes a layer on the embedded database", { timeout: 60_000 }, async () => {
  world.put("bronze:towns.geojson", towns());
  const job = await world.run("process_vector", { source: "bronze:towns.geojson" });
  expect(job.error).toBeNull();
  const layer = (await layerOf(world.db, "towns"))!;
  expect(layer).toMatchObject({ feature_count: 5, extent: [10, 50, 15, 53], geometry_type: "MultiPolygon" });
  expect((await featuresOf(world.db, layer))[0]).toMatchObject({
    name: 'Tøwn "0", \t größe\nsecond line \\ end',
    people: 1,
    founded: "1910-02-03",
  });
  expect(await world.item("layers", "towns")).toMatchObject({ properties: { "table:row_count": 5 } });
});

test("what jumps over the antimeridian is cut here as on a server", async () => {
  const cleaned = async (given: string) => {
    const [row] = await world.db.sql<{ type: string; area: number; length: number; valid: boolean; parts: number }>`
      select st_geometrytype(c.geom) as type, st_area(c.geom) as area, st_length(c.geom) as length, st_isvalid(c.geom) as valid,
        st_numgeometries(c.geom) as parts
        from geo.clean_geometry(${given}, 4326, 4326, true, false) c`;
    return row;
  };
  const polygon = { type: "ST_MultiPolygon", valid: true };
  const box = "((170 0, -170 0, -170 5, 170 5, 170 0), (179 3, -179 3, -179 4, 179 4, 179 3))";
  expect(await cleaned(`POLYGON${box}`)).toMatchObject({ ...polygon, area: expect.closeTo(98, 9), parts: 2 });
  const pole = "((-120 -60, 0 -60, 120 -60, -120 -60))";
  expect(await cleaned(`POLYGON${pole}`)).toMatchObject({ ...polygon, area: expect.closeTo(360 * 30, 6), parts: 1 });
  expect(await cleaned("LINESTRING(170 0, -170 0)")).toMatchObject({
    type: "ST_MultiLineString",
    length: 20,
    parts: 2,
  });
});

test("a GeoParquet becomes one too, and a geometry that is no WKB is rejected alone", { timeout: 60_000 }, async () => {
  const [written] = await world.db.sql<{ one: string; two: string }>`
    select encode(st_asbinary(st_makeenvelope(1, 2, 3, 4)), 'hex') as one, encode(st_asbinary(st_makepoint(7, 8)), 'hex') as two`;
  const wkb = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"));
  const writer = new ByteWriter();
  parquetWrite({
    writer,
    columnData: [
      { name: "name", data: ["a", "b", "c"], type: "STRING" },
      { name: "size", data: [1.5, 2.5, 3.5], type: "DOUBLE" },
      { name: "geometry", data: [wkb(written!.one), wkb("0103"), wkb(written!.two)], type: "BYTE_ARRAY" },
    ],
    kvMetadata: [
      {
        key: "geo",
        value: JSON.stringify({
          version: "1.1.0",
          primary_column: "geometry",
          columns: { geometry: { encoding: "WKB", geometry_types: [] } },
        }),
      },
    ],
  });
  world.put("bronze:shapes.parquet", new Uint8Array(writer.getBuffer()));
  const job = await world.run("process_vector", { source: "bronze:shapes.parquet", max_rejected: 1, register: false });
  expect(job.error).toBeNull();
  const layer = (await layerOf(world.db, "shapes"))!;
  expect(layer).toMatchObject({ feature_count: 2, geometry_type: "Geometry", srid: 4326, extent: [1, 2, 7, 8] });
  expect(layer.columns.map(({ name, pg_type }) => [name, pg_type])).toEqual([
    ["name", "text"],
    ["size", "double precision"],
  ]);
  expect((await featuresOf(world.db, layer)).map(({ fid, name, size }) => [fid, name, size])).toEqual([
    [1, "a", 1.5],
    [3, "c", 3.5],
  ]);
  expect(await world.db.sql`select row_number::int as n, code from geo.rejects`).toEqual([
    { n: 2, code: "unreadable_geometry" },
  ]);
});

test("replacing a layer keeps its name and counts its version", { timeout: 60_000 }, async () => {
  world.put("bronze:again.geojson", collection([feature({ a: 1 }, square(0, 0))]));
  const again = { source: "bronze:again.geojson", mode: "replace", register: false };
  await world.run("process_vector", again);
  await world.run("process_vector", again, { mode: "force" });
  expect(await layerOf(world.db, "again")).toMatchObject({ version: 2, feature_count: 1 });
});
