// export_collection on the embedded database: neighbours become one COG or a grid of them, every pixel as it was.
import { afterAll, beforeAll, expect, test } from "vitest";
import { mosaicProblems, planMosaic } from "../../src/geo/mosaic_plan.js";
import { engineFor } from "../../src/handlers/raster/gdal/engine_choice.js";
import type { GdalEngine } from "../../src/handlers/raster/gdal/gdal_engine.js";
import { RasterWorld, scene } from "../jobs/raster_world.js";

const side = 64;
const step = side * 30;
let world: RasterWorld;
beforeAll(async () => {
  world = await RasterWorld.open("embedded");
  await world.worker();
  // Of two by two places one is empty.
  for (const [x, y] of [
    [0, 0],
    [1, 0],
    [0, 1],
  ] as const) {
    world.put(
      `bronze:parts/p${x}${y}.tif`,
      scene({ seed: 1 + x + 2 * y, origin: [500_000 + x * step, 100_000 - y * step] }),
    );
  }
  const job = await world.run("process_raster_collection", {
    sources: { prefix: "bronze:parts/" },
    collection: "parts",
    datetime: "2024-06-21T10:30:00Z",
    target_crs: "source",
  });
  expect(job.error).toBeNull();
}, 240_000);
afterAll(() => world?.close());

async function pixelsOf(ref: string): Promise<{ width: number; height: number; data: number[] }> {
  const [zone, key] = ref.split(":") as [string, string];
  const engine = (await engineFor({ engine: "wasm", path: "", env: {} } as never)) as unknown as GdalEngine;
  const { width, height, values } = await engine.readPixels(
    world.path(zone, key),
    { bands: [1], size: 4096 },
    new AbortController().signal,
  );
  return { width, height, data: Array.from(values[0]!) };
}

test("a mosaic has every pixel of its parts where it was, and nodata where there is none", {
  timeout: 120_000,
}, async () => {
  const job = await world.run("export_collection", { source: "parts", name: "whole" });
  expect(job.error).toBeNull();
  const item = await world.item("exports", "whole");
  expect(item.properties).toMatchObject({
    "proj:shape": [128, 128],
    "proj:code": "EPSG:32636",
    datetime: "2024-06-21T10:30:00Z",
  });
  expect(String(item.assets.data!["fanfold:ref"])).toMatch(/^gold:exports\/whole\/whole\//);
  const whole = await pixelsOf(String(item.assets.data!["fanfold:ref"]));
  for (const part of await world.items("parts")) {
    const own = await pixelsOf(String(part.assets.data!["fanfold:ref"]));
    const [, , x, , , y] = part.properties["proj:transform"] as number[];
    const [left, top] = [(x! - 500_000) / 30, (100_000 - y!) / 30];
    for (let row = 0; row < side; row++) {
      const at = (top + row) * whole.width + left;
      expect(whole.data.slice(at, at + side)).toEqual(own.data.slice(row * side, (row + 1) * side));
    }
  }
});

test("a grid has a COG for each part where there is something", { timeout: 120_000 }, async () => {
  const job = await world.run("export_collection", { source: "parts", name: "grid", grid: 2 });
  expect(job.error).toBeNull();
  const items = (await world.items("exports")).filter(({ id }) => id.startsWith("grid"));
  expect(items.map(({ id }) => id)).toEqual(["grid_0_0", "grid_0_1", "grid_1_0"]);
  const again = await world.run("export_collection", { source: "parts", name: "grid", grid: 2 }, { mode: "force" });
  expect(again).toMatchObject({ status: "failed", error: { message: expect.stringContaining("overwrite=replace") } });
  const gone = await world.run("unpublish_export", { job_id: job.job_id, dry_run: false });
  expect(gone.result).toMatchObject({ removed_items: 3, removed_files: 6 });
});

const member = (name: string, x: number, more = {}) =>
  ({
    name,
    crs: "EPSG:32636",
    width: 10,
    height: 10,
    transform: [x, 1, 0, 10, 0, -1],
    bands: "int16/-",
    ...more,
  }) as const;

test("what does not lie on one grid of pixels is named, each with what is different", () => {
  const members = [
    member("a", 0),
    member("b", 10.5),
    member("c", 20, { crs: "EPSG:4326" }),
    member("d", 30, { transform: [30, 2, 0, 10, 0, -2] }),
    member("e", 40, { bands: "uint8/-" }),
    member("f", 50),
  ];
  expect(mosaicProblems(members as never)).toEqual([
    "b: its pixels lie between those of the others",
    "c: its CRS is EPSG:4326, not EPSG:32636",
    "d: its pixels are 2 × 2, not 1 × 1",
    "e: its bands are uint8/-, not int16/-",
  ]);
});

test("parts of a plan touch, do not overlap, and name what lies in them", () => {
  const { width, height, parts } = planMosaic([member("a", 0), member("b", 15)] as never[], 2);
  expect([width, height]).toEqual([25, 10]);
  expect(
    parts.map(({ x, y, width: w, height: h, members }) => [
      x,
      y,
      w,
      h,
      members.map((one: { name: string }) => one.name),
    ]),
  ).toEqual([
    [0, 0, 13, 5, ["a"]],
    [1, 0, 12, 5, ["b"]],
    [0, 1, 13, 5, ["a"]],
    [1, 1, 12, 5, ["b"]],
  ]);
});
