// export_vector on the embedded database: GeoParquet that others read, an item that tells it, and what is refused.
import { existsSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RasterWorld } from "../jobs/raster_world.js";
import { layerOf } from "../vector/layer_rows.js";
import { collection, feature, point, square } from "../vector/vector_files.js";
import { eventually } from "../worker/shop.js";
import { readParquet } from "./read_parquet.js";

let world: RasterWorld;
beforeAll(async () => {
  world = await RasterWorld.open("embedded");
  await world.worker();
}, 120_000);
afterAll(() => world?.close());

const load = async (name: string, text: string, more: Record<string, unknown> = {}) => {
  world.put(`bronze:${name}.geojson`, text);
  const job = await world.run("process_vector", { source: `bronze:${name}.geojson`, layer: name, ...more });
  expect(job.error).toBeNull();
};
const exported = async (parameters: Record<string, unknown>) => {
  const job = await world.run("export_vector", parameters, { mode: "force" });
  expect(job.error).toBeNull();
  return job.result as {
    files: { file: string; bytes: number; sha256: string }[];
    manifest: string;
    layer_version: number;
    replaced_files: number;
  };
};
const pathOf = (ref: string) => world.path("gold", ref.slice("gold:".length));

test("a layer becomes GeoParquet with every value as it was, and an item in the catalogue tells where it is", {
  timeout: 60_000,
}, async () => {
  const properties = {
    name: 'Tøwn "0", \t größe\nsecond line \\ end',
    people: 9_007_199_254_740_993n.toString(),
    share: 0.1 + 0.2,
    open: true,
    founded: "1910-02-03",
    seen: "2024-05-06T07:08:09.123456Z",
    tags: { a: [1, "x"], big: 12345678901234567890n.toString() },
  };
  const features = [
    feature(properties, square(10, 50)),
    feature(
      { ...properties, name: null, open: null, share: null, founded: null, seen: null, tags: null },
      square(-20, -5),
    ),
    feature({ ...properties, name: "" }, square(40, 8)),
  ];
  const text = collection(features).replaceAll('"9007199254740993"', "9007199254740993");
  await load("towns", text, { title: "Towns", indexes: [] });
  // GDAL brings no more than fifteen digits; what a layer has goes out with all of them.
  const { table_name } = (await layerOf(world.db, "towns"))!;
  await world.db.script(`update geo.${table_name} set share = 0.1::float8 + 0.2::float8 where share is not null`);
  const job = await exported({ layer: "towns" });
  const { rows, geo, metadata } = await readParquet(pathOf(job.files[0]!.file));
  expect(metadata.row_groups).toHaveLength(1);
  expect(geo).toMatchObject({
    version: "1.1.0",
    primary_column: "geometry",
    columns: {
      geometry: {
        encoding: "WKB",
        geometry_types: ["MultiPolygon"],
        bbox: [-20, -5, 41, 51],
        covering: { bbox: { xmin: ["bbox", "xmin"] } },
      },
    },
  });
  expect(geo!.columns.geometry).not.toHaveProperty("crs");
  const byKey = new Map(rows.map((row) => [Number(row.fid), row]));
  expect(byKey.get(1)).toMatchObject({
    name: properties.name,
    people: 9_007_199_254_740_993n,
    share: 0.1 + 0.2,
    open: true,
    founded: new Date("1910-02-03"),
    bbox: { xmin: 10, ymin: 50, xmax: 11, ymax: 51 },
  });
  expect((byKey.get(1)!.seen as Date).toISOString()).toBe("2024-05-06T07:08:09.123Z");
  expect(JSON.parse(String(byKey.get(1)!.tags))).toEqual(properties.tags);
  expect(byKey.get(2)).toMatchObject({ name: null, open: null, share: null, founded: null, seen: null, tags: null });
  expect(byKey.get(3)!.name).toBe("");

  const item = await world.item("exports", "towns");
  expect(item).toMatchObject({
    bbox: [-20, -5, 41, 51],
    properties: {
      title: "Towns",
      "table:row_count": 3,
      "fanfold:layer_version": 1,
      "table:primary_geometry": "geometry",
    },
    assets: { geoparquet: { type: "application/vnd.apache.parquet", "file:size": job.files[0]!.bytes } },
  });
  const manifest = JSON.parse(readFileSync(pathOf(job.manifest), "utf8"));
  expect(manifest).toMatchObject({
    layer: "towns",
    layer_version: 1,
    row_count: 3,
    files: [{ sha256: job.files[0]!.sha256 }],
  });
});

test("rows lie in spatial order, so that a reader of a corner takes few row groups", { timeout: 60_000 }, async () => {
  // Neighbours in the file are far apart in the source.
  const features = Array.from({ length: 4000 }, (_, at) => {
    const mixed = (at * 1789) % 4000;
    return feature({ at }, point((mixed % 64) * 2, Math.floor(mixed / 64)));
  });
  await load("grid", collection(features), { register: false });
  const job = await exported({ layer: "grid", row_group_rows: 1000, compression: "snappy" });
  const { metadata, rows } = await readParquet(pathOf(job.files[0]!.file));
  expect(metadata.row_groups.map(({ num_rows }) => Number(num_rows))).toEqual([1000, 1000, 1000, 1000]);
  expect(rows).toHaveLength(4000);
  const corner = metadata.row_groups.filter(({ columns }) => {
    const edge = (name: string) =>
      columns.find(({ meta_data }) => meta_data!.path_in_schema.join(".") === `bbox.${name}`)!;
    const least = (name: string) => edge(name).meta_data!.statistics!.min_value as number;
    return least("xmin") < 10 && least("ymin") < 5;
  });
  expect(corner.length).toBeLessThan(3);
});

test("an export refuses a name that is taken, and takes its place when it may: the files before are gone", {
  timeout: 60_000,
}, async () => {
  await load("twice", collection([feature({ a: 1 }, square(0, 0))]), { register: false });
  const first = await exported({ layer: "twice" });
  const refused = await world.run("export_vector", { layer: "twice" }, { mode: "force" });
  expect(refused).toMatchObject({ status: "failed", error: { message: expect.stringContaining("overwrite=replace") } });
  await load("twice2", collection([feature({ a: 2 }, square(0, 0)), feature({ a: 3 }, square(1, 1))]), {
    layer: "twice",
    mode: "replace",
    register: false,
  });
  const second = await exported({ layer: "twice", overwrite: "replace" });
  expect(second).toMatchObject({ layer_version: 2, replaced_files: 2 });
  await eventually(async () => !existsSync(pathOf(first.files[0]!.file)), 50);
  expect((await readParquet(pathOf(second.files[0]!.file))).rows).toHaveLength(2);
});

test("a layer or a column that is not there is named, with what there is", { timeout: 60_000 }, async () => {
  const missing = await world.run("export_vector", { layer: "nowhere" });
  expect(missing).toMatchObject({
    status: "failed",
    error: { message: expect.stringContaining('no layer "nowhere"') },
  });
  await load("narrow", collection([feature({ a: 1, b: 2 }, square(0, 0))]), { register: false });
  const wrong = await world.run("export_vector", { layer: "narrow", columns: ["a", "c"] });
  expect(wrong).toMatchObject({ status: "failed", error: { message: expect.stringContaining("has no columns: c") } });
  const some = await exported({ layer: "narrow", columns: ["b"] });
  expect(Object.keys((await readParquet(pathOf(some.files[0]!.file))).rows[0]!)).toEqual([
    "fid",
    "b",
    "geometry",
    "bbox",
  ]);
});
