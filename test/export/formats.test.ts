// Every format of export_vector, with the WASM engine on the embedded database: what is loaded again from the file is the layer as it was.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RasterWorld } from "../jobs/raster_world.js";
import { featuresOf, layerOf } from "../vector/layer_rows.js";
import { collection, feature, point, square } from "../vector/vector_files.js";
import { openPmtiles } from "./pmtiles_file.js";

let world: RasterWorld;
beforeAll(async () => {
  world = await RasterWorld.open("embedded");
  await world.worker();
  const values = {
    text: 'a "quoted", line\nand ü',
    whole: 7,
    share: 1.25,
    flag: false,
    day: "2001-02-03",
    at: "2001-02-03T04:05:06.789Z",
  };
  const nothing = Object.fromEntries(Object.keys(values).map((name) => [name, null]));
  const features = [
    feature(values, square(3, 4)),
    feature(nothing, square(-70, 20)),
    feature({ ...values, whole: -1 }, square(100, -40)),
  ];
  world.put("bronze:all.geojson", collection(features));
  const job = await world.run("process_vector", { source: "bronze:all.geojson", register: false });
  expect(job.error).toBeNull();
}, 120_000);
afterAll(() => world?.close());

interface Exported {
  files: { file: string; format: string }[];
}

const pathOf = (ref: string) => world.path("gold", ref.slice("gold:".length));

test("each file loaded again is the layer as it was", { timeout: 120_000 }, async () => {
  const formats = ["geoparquet", "flatgeobuf", "geopackage", "csv"];
  const job = await world.run("export_vector", { layer: "all", formats, name: "all-formats" });
  expect(job.error).toBeNull();
  const { files } = job.result as Exported;
  expect(files.map(({ format }) => format)).toEqual(formats);
  const before = await featuresOf(world.db, (await layerOf(world.db, "all"))!);
  for (const { file, format } of files) {
    const name = `again_${format}`;
    const again = await world.run("process_vector", { source: file, layer: name, register: false });
    expect(again.error).toBeNull();
    const layer = (await layerOf(world.db, name))!;
    const features = await featuresOf(world.db, layer);
    const byKey = new Map(features.map(({ fid, fid_2 = fid, ...row }) => [fid_2, row]));
    for (const { fid, ...row } of before) {
      // FlatGeobuf has moments and no days.
      const day = format === "flatgeobuf" && row.day !== null ? `${row.day}T00:00:00+00:00` : row.day;
      expect({ format, ...byKey.get(fid) }).toEqual({ format, ...row, day });
    }
  }
});

test("a PMTiles has the zoom levels that were asked for, and its tiles the features", {
  timeout: 120_000,
}, async () => {
  const wanted = { layer: "all", formats: ["pmtiles"], name: "all-tiles", max_zoom: 3 };
  const job = await world.run("export_vector", wanted);
  expect(job.error).toBeNull();
  const tiles = await openPmtiles(pathOf((job.result as Exported).files[0]!.file));
  expect(tiles.header).toMatchObject({ minZoom: 0, maxZoom: 3, tileType: 1, specVersion: 3 });
  const whole = await tiles.tile(0, 0, 0);
  expect(whole!.layers.all!.length).toBe(3);
  expect(whole!.layers.all!.properties).toContainEqual(expect.objectContaining({ whole: 7, share: 1.25 }));
  await tiles.close();
});

test("tables without places become Parquet and CSV, and no tiles", { timeout: 60_000 }, async () => {
  world.put("bronze:table.csv", "name,amount\nA,1\nB,2\n");
  await world.run("process_vector", { source: "bronze:table.csv", register: false });
  const job = await world.run("export_vector", { layer: "table", formats: ["geoparquet", "csv"] });
  expect(job.error).toBeNull();
  const { files } = job.result as Exported;
  expect(readFileSync(pathOf(files[1]!.file), "utf8").split("\n").sort()).toEqual([
    "",
    '"fid","name","amount"',
    '1,"A",1',
    '2,"B",2',
  ]);
  const tiles = await world.run("export_vector", { layer: "table", formats: ["pmtiles"], name: "no-tiles" });
  expect(tiles).toMatchObject({ status: "failed", error: { message: expect.stringContaining("no geometry") } });
});

test("points, too, are loaded again as they were", { timeout: 60_000 }, async () => {
  world.put(
    "bronze:points.geojson",
    collection([feature({ a: 1 }, point(8.5, 47.25)), feature({ a: 2 }, point(-8.5, -47.25))]),
  );
  await world.run("process_vector", { source: "bronze:points.geojson", register: false });
  const job = await world.run("export_vector", { layer: "points", formats: ["flatgeobuf"] });
  expect(job.error).toBeNull();
  const again = await world.run("process_vector", {
    source: (job.result as Exported).files[0]!.file,
    layer: "points_again",
    register: false,
  });
  expect(again.error).toBeNull();
  const before = (await layerOf(world.db, "points"))!;
  expect(await layerOf(world.db, "points_again")).toMatchObject({
    geometry_type: before.geometry_type,
    extent: before.extent,
  });
});
