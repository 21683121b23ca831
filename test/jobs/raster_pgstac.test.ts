// The raster jobs on pgSTAC: the same whole jobs, with the operator's choice of that catalogue. Items, batches that are committed with
// their task, partial results, resume, and the way back.
import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { StacItem } from "../../src/geo/stac.js";
import { eventually } from "../worker/shop.js";
import { catalogHere, RasterWorld, scene } from "./raster_world.js";

// Template databases are made here, on a machine that does other things too.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 600_000 });

const { skip, name } = await catalogHere("pgstac");
const datetime = "2024-01-01T00:00:00Z";

let world: RasterWorld;
beforeAll(async () => {
  if (skip) return;
  world = await RasterWorld.open("pgstac");
  await world.worker({ raster: { engine: "wasm", catalog: "pgstac" } });
});
afterAll(() => world?.close());

const files = (item: StacItem) => Object.values(item.assets).map((asset) => asset["fanfold:ref"] as string);
const there = (ref: string) => existsSync(world.path(...(ref.split(":") as [string, string])));
const place = (seed: number): [number, number] => [500_000 + seed * 1920, 100_000];
const put = (ref: string, seed: number) => world.put(ref, scene({ seed, origin: place(seed) }));

test.skipIf(skip)(`a broken scene costs itself only, and a resume adds it${name}`, async () => {
  put("bronze:in/a.tif", 1);
  put("bronze:in/b.tif", 2);
  world.put("bronze:in/c.tif", "not yet");
  const wanted = { sources: { prefix: "bronze:in/" }, collection: "dem", title: "Heights", datetime };
  const first = await world.run("process_raster_collection", wanted);
  expect(first).toMatchObject({ status: "partial_success", resumable: true, result: { item_count: 2 } });
  put("bronze:in/c.tif", 3);
  await world.engine.operate.resume(first.job_id);
  const second = await world.ended(first.job_id);
  expect(second).toMatchObject({ status: "completed", result: { item_count: 3, items_in_collection: 3 } });
  const items = await world.items("dem");
  expect(items.map(({ id }) => id)).toEqual(["a", "b", "c"]);
  expect(items.flatMap(files).filter(there)).toHaveLength(6);
  expect(await world.catalog.collection(world.db, "dem")).toMatchObject({
    title: "Heights",
    extent: { temporal: { interval: [[expect.stringMatching(/^2024-01-01/), expect.stringMatching(/^2024-01-01/)]] } },
  });
  // In pgSTAC's own table, and nowhere else.
  const [counts] = await world.db.sql<{ theirs: number; ours: number }>`
    select (select count(*)::integer from pgstac.items) as theirs, (select count(*)::integer from stac.items) as ours`;
  expect(counts).toEqual({ theirs: 3, ours: 0 });
  expect(await world.engine.operate.verify(first.job_id)).toMatchObject({ ok: true, problems: [] });
});

test.skipIf(skip)(`items are committed with the task that registers them, or neither is there${name}`, async () => {
  for (const seed of [4, 5]) put(`bronze:later/s${seed}.tif`, seed);
  const wanted = { sources: { prefix: "bronze:later/" }, collection: "later", datetime };
  await world.db.script("alter function stac.pgstac_put_items rename to pgstac_put_items_away");
  const first = await world
    .run("process_raster_collection", wanted)
    .finally(() => world.db.script("alter function stac.pgstac_put_items_away rename to pgstac_put_items"));
  expect(first).toMatchObject({
    status: "partial_success",
    resumable: true,
    deliverables: [{ name: "cogs", count: 2, usable: true }],
  });
  expect(await world.items("later")).toEqual([]);
  await world.engine.operate.resume(first.job_id);
  expect(await world.ended(first.job_id)).toMatchObject({ status: "completed", result: { item_count: 2 } });
  const [writers] = await world.db.sql<{ items: string[]; results: string[] }>`
    select (select array_agg(distinct i.xmin::text) from pgstac.items i where i.collection = 'later') as items,
           (select array_agg(distinct r.xmin::text) from app.results r join app.stages s using (stage_id)
             where s.job_id = ${first.job_id} and s.name = 'register') as results`;
  expect(writers!.items).toHaveLength(1);
  expect(writers!.items).toEqual(writers!.results);
});

test.skipIf(skip)(
  `what is unpublished goes with its files, but for one that another collection has${name}`,
  async () => {
    put("bronze:shared/scene.tif", 6);
    const made = await world.run("process_raster", {
      source: "bronze:shared/scene.tif",
      collection: "first",
      datetime,
    });
    const again = await world.run("register_rasters", { sources: { job_id: made.job_id }, collection: "second" });
    expect(again).toMatchObject({ status: "completed", result: { item_count: 1 } });
    const [first, second] = [(await world.items("first"))[0]!, (await world.items("second"))[0]!];
    const [cog, quicklook] = files(first) as [string, string];
    expect(files(second)[0]).toBe(cog);
    const why = "the item scene of the collection second has it too";

    const dry = await world.run("unpublish_raster", { collection: "first" });
    expect(dry.result).toMatchObject({ would_remove: { item_count: 1, kept: [{ file: cog, why }] } });
    const gone = await world.run("unpublish_raster", { collection: "first", dry_run: false, delete_files: true });
    expect(gone).toMatchObject({
      status: "completed",
      result: { removed_items: 1, removed_files: 1, kept_count: 1, kept: [{ file: cog, why }] },
    });
    expect(await world.items("first")).toEqual([]);
    await eventually(() => !there(quicklook));
    expect(there(cog)).toBe(true);
    expect(await world.engine.assets.find({ zone: "silver", key: cog.slice("silver:".length) })).not.toBeNull();

    const last = await world.run("unpublish_raster", {
      collection: "second",
      dry_run: false,
      delete_files: true,
      delete_collection: true,
    });
    expect(last).toMatchObject({ status: "completed", result: { removed_items: 1, kept_count: 0 } });
    await eventually(() => !there(cog));
    expect(await world.catalog.collection(world.db, "second")).toBeNull();
  },
);
