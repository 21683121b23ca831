// Collections, stacks, registration and their reverse, on a real server with real processes. One world for all; each test has
// collections of its own.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { footprintBox } from "../../src/geo/boxes.js";
import type { StacItem } from "../../src/geo/stac.js";
import { isClean, judges } from "../handlers/raster/cog_judges.js";
import { eventually } from "../worker/shop.js";
import { catalogHere, RasterWorld, scene } from "./raster_world.js";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const { skip, name } = await catalogHere("server");

let world: RasterWorld;

beforeAll(async () => {
  if (skip) return;
  world = await RasterWorld.open("server");
  await world.worker();
});
afterAll(() => world?.close());

const files = (item: StacItem) => Object.values(item.assets).map((asset) => asset["fanfold:ref"] as string);
const there = (ref: string) => existsSync(world.path(...(ref.split(":") as [string, string])));
const recorded = async () =>
  (
    await world.db.sql<{ ref: string }>`select zone || ':' || key as ref from app.assets where retracted_at is null`
  ).map(({ ref }) => ref);
const errors = async (job_id: string) => JSON.stringify(await world.engine.operate.errorGroups(job_id));

test.skipIf(skip)(`a collection is refused with every difference, or told of them and made${name}`, async () => {
  world.put("bronze:mixed/a.tif", scene());
  world.put("bronze:mixed/b.tif", scene({ seed: 8, origin: [502_000, 100_000] }));
  world.put("bronze:mixed/c.tif", scene({ look: "rgb" }));
  world.put("bronze:mixed/notes.txt", "not a raster");
  const sources = { prefix: "bronze:mixed/", pattern: "*.tif" };
  const strict = await world.run("process_raster_collection", { sources, collection: "mixed" });
  expect(strict.status).toBe("failed");
  const told = await errors(strict.job_id);
  for (const code of ["band_count_differs", "data_type_differs", "raster_type_differs"]) expect(told).toContain(code);
  expect(told).toContain("bronze:mixed/c.tif");
  expect(await world.catalog.collection(world.db, "mixed")).toBeNull();
  const warned = await world.run("process_raster_collection", { sources, collection: "mixed", homogeneity: "warn" });
  expect(warned).toMatchObject({ status: "completed", result: { item_count: 3 } });
  // On a map each COG is seen before it is made, and afterwards where its data is: within that.
  const places = await world.db.sql<{ planned: number[]; measured: number[] }>`
    select t.bbox as planned, r.result -> 'bbox' as measured
      from app.stages s
      join app.tasks t on t.stage_id = s.stage_id
      join app.results r on r.stage_id = t.stage_id and r.ordinal = t.ordinal
     where s.job_id = ${warned.job_id} and s.name = 'cog'`;
  expect(places).toHaveLength(3);
  for (const { planned, measured } of places) {
    expect(footprintBox(planned)).toEqual(planned);
    for (const i of [0, 1]) expect(measured[i]).toBeGreaterThanOrEqual(planned[i]! - 1e-4);
    for (const i of [2, 3]) expect(measured[i]).toBeLessThanOrEqual(planned[i]! + 1e-4);
  }
});

test.skipIf(skip)(
  `broken sources are allowed up to a share, and a search of the catalogue is a source${name}`,
  async () => {
    world.put("bronze:some/a.tif", scene());
    world.put("bronze:some/b.tif", "II*\0 and no more");
    const list = ["bronze:some/a.tif", "bronze:some/b.tif"];
    const few = await world.run("process_raster_collection", {
      sources: { list },
      collection: "some",
      max_broken_percent: 40,
    });
    expect(few.status).toBe("failed");
    expect(await errors(few.job_id)).toMatch(/1 of 2 sources are broken; 40 % may be/);
    const half = await world.run("process_raster_collection", { sources: { list }, collection: "some" });
    expect(half).toMatchObject({ status: "partial_success", result: { item_count: 1 } });
    const again = await world.run("process_raster_collection", {
      sources: { collection: "some", asset: "data" },
      collection: "some-3857",
      target_crs: "EPSG:3857",
    });
    expect(again).toMatchObject({ status: "completed", result: { item_count: 1 } });
    const [before] = await world.items("some");
    const [after] = await world.items("some-3857");
    expect(after!.id).toBe(before!.id);
    expect(after!.properties).toMatchObject({
      datetime: before!.properties.datetime,
      "proj:code": "EPSG:3857",
      "fanfold:source": files(before!)[0],
    });
  },
);

test.skipIf(skip)(
  `an item of another job is not replaced unless that is asked for; its files then go${name}`,
  async () => {
    world.put("bronze:twice/scene.tif", scene());
    const wanted = { source: "bronze:twice/scene.tif", collection: "twice" };
    await world.run("process_raster", wanted);
    const [before] = await world.items("twice");
    const refused = await world.run("process_raster", { ...wanted, compression: "lzw" });
    expect(refused).toMatchObject({ status: "failed" });
    expect(await errors(refused.job_id)).toMatch(/item_exists.*overwrite=replace/);
    const replaced = await world.run("process_raster", { ...wanted, compression: "lzw", overwrite: "replace" });
    expect(replaced.status).toBe("completed");
    const [after] = await world.items("twice");
    expect(after!.properties["fanfold:job_id"]).toBe(replaced.job_id);
    await eventually(() => files(before!).filter(there).length === 0);
    expect(files(after!).filter(there)).toHaveLength(2);
    expect((await recorded()).filter((ref) => ref.startsWith("silver:twice/")).sort()).toEqual(files(after!).sort());
  },
);

test.skipIf(skip)(`bands in files of their own become stacks, and what is missing is named${name}`, async () => {
  for (const tile of ["n5", "n6"]) {
    for (const period of [5, 20, 100]) {
      if (tile === "n6" && period === 20) continue;
      world.put(`bronze:fathom/FD_${period}_${tile}_2030.tif`, scene({ look: "flood_depth", seed: period }));
    }
  }
  const wanted = {
    prefix: "bronze:fathom/",
    pattern: "{kind}_{rp}_{tile}_{year}.tif",
    band: "rp",
    raster_type: "flood_depth",
  };
  const refused = await world.run("stack_bands", { ...wanted, collection: "flood" });
  expect(refused.status).toBe("failed");
  expect(await errors(refused.job_id)).toMatch(/1 of 2 groups lack bands: FD_n6_2030 lacks 20/);
  const made = await world.run("stack_bands", { ...wanted, collection: "flood", incomplete: "skip" });
  expect(made).toMatchObject({ status: "completed", result: { item_count: 1 } });
  const [item] = await world.items("flood");
  expect(item).toMatchObject({ id: "FD_n5_2030", properties: { kind: "FD", tile: "n5", year: 2030 } });
  expect((item!.assets.data!.bands as { name: string }[]).map((band) => band.name)).toEqual(["5", "20", "100"]);
  expect(item!.properties["fanfold:sources"]).toHaveLength(3);
  const reversed = await world.run("stack_bands", {
    ...wanted,
    collection: "flood-2",
    band_order: ["100", "5"],
    start_datetime: "2030-01-01T00:00:00Z",
    end_datetime: "2030-12-31T00:00:00Z",
  });
  expect(reversed).toMatchObject({ status: "completed", result: { item_count: 2 } });
  const [stack] = await world.items("flood-2");
  expect((stack!.assets.data!.bands as { name: string }[]).map((band) => band.name)).toEqual(["100", "5"]);
  expect(stack!.properties.start_datetime).toBe("2030-01-01T00:00:00Z");
});

test.skipIf(skip)(
  `sound groups are registered beside broken ones, as many as a submit allows, and files of a failed job can go${name}`,
  async () => {
    for (const tile of ["a", "b", "c", "d"]) {
      for (const band of ["red", "nir"]) {
        const broken = tile !== "a" && band === "nir";
        world.put(
          `bronze:half/${tile}_${band}.tif`,
          broken ? "II*\0 and no more" : scene({ seed: tile.charCodeAt(0) }),
        );
      }
    }
    const wanted = { prefix: "bronze:half/", pattern: "{tile}_{band}.tif", band: "band" };
    const failed = await world.run("stack_bands", { ...wanted, collection: "half-1" });
    expect(failed.status).toBe("failed");
    const stage_options = { stack: { failure_budget: { percent: 90 } } };
    const most = await world.run("stack_bands", { ...wanted, collection: "half-2" }, { stage_options });
    expect(most).toMatchObject({ status: "partial_success", result: { item_count: 1 } });
    expect((await world.items("half-2")).map(({ id }) => id)).toEqual(["a"]);
    const [log] = await world.db.sql<{ told: string }>`
      select string_agg(l.message || l.data::text, ' ') as told from app.task_logs l
        join app.stages s using (stage_id) where s.job_id = ${most.job_id} and s.name = 'stack'`;
    expect(log!.told).toMatch(/a COG was made.*"resampling"/);

    const left = () => recorded().then((refs) => refs.filter((ref) => ref.startsWith("silver:half-1/")));
    expect(await left()).toHaveLength(2);
    const removed = await world.run("unpublish_raster", { job_ids: [failed.job_id], dry_run: false });
    expect(removed).toMatchObject({ status: "completed", result: { removed_files: 2 } });
    expect(await left()).toEqual([]);
    expect(await world.items("half-2")).toHaveLength(1);
  },
);

test.skipIf(skip)(
  `COGs that are there are registered, stay where they are, and are only unrecorded${name}`,
  async () => {
    world.put("bronze:own/scene.tif", scene());
    const source_job = await world.run("process_raster", { source: "bronze:own/scene.tif", collection: "own" });
    const [cog] = files((await world.items("own"))[0]!);
    const bytes = readFileSync(world.path(...(cog!.split(":") as [string, string])));
    world.put("gold:legacy/a.tif", bytes);
    world.put("gold:legacy/b.tif", scene({ width: 600 }));
    const wanted = { sources: { prefix: "gold:legacy/" }, datetime: "2020-01-01T00:00:00Z" };
    const strict = await world.run("register_rasters", { ...wanted, collection: "legacy" });
    expect(strict).toMatchObject({ status: "partial_success", result: { item_count: 1 } });
    expect(await errors(strict.job_id)).toMatch(/check=warn/);
    const lenient = await world.run("register_rasters", { ...wanted, collection: "legacy-2", check: "warn" });
    expect(lenient).toMatchObject({ status: "completed", result: { item_count: 2 } });
    const [good, bad] = await world.items("legacy-2");
    expect(good!.assets.data).toMatchObject({ "fanfold:ref": "gold:legacy/a.tif", "file:size": bytes.length });
    expect(bad!.properties["fanfold:cog_violations"]).toEqual(expect.arrayContaining([expect.any(String)]));

    // What a job has made can be registered again from its saved results, under another collection.
    const saved = await world.run("register_rasters", {
      sources: { job_id: source_job.job_id },
      collection: "own-again",
    });
    expect(saved).toMatchObject({ status: "completed", result: { item_count: 1 } });
    expect((await world.items("own-again"))[0]).toMatchObject({
      id: "scene",
      assets: { data: { "fanfold:ref": cog } },
    });

    // The collection that made it goes; the file stays for the other one, which is told.
    const first_gone = await world.run("unpublish_raster", { collection: "own", dry_run: false });
    const why = "the item scene of the collection own-again has it too";
    expect(first_gone.result).toMatchObject({ removed_items: 1, removed_files: 1, kept: [{ file: cog, why }] });
    expect(there(cog!)).toBe(true);
    expect(await recorded()).toContain(cog);

    const removed = await world.run("unpublish_raster", {
      collection: "legacy-2",
      dry_run: false,
      delete_collection: true,
    });
    expect(removed).toMatchObject({
      status: "completed",
      result: {
        removed_items: 2,
        kept_count: 1,
        collections: [{ collection: "legacy-2", items_left: 0, removed: true }],
      },
    });
    expect(await world.catalog.collection(world.db, "legacy-2")).toBeNull();
    expect(there("gold:legacy/a.tif") && there("gold:legacy/b.tif")).toBe(true);
    const [adopted] = await world.items("legacy");
    const gone = await world.run("unpublish_raster", { collection: "legacy", dry_run: false, delete_files: true });
    expect(gone).toMatchObject({ status: "completed", result: { removed_items: 1 } });
    await eventually(() => files(adopted!).filter(there).length === 0);
    expect(there("gold:legacy/b.tif")).toBe(true);
  },
);

test.skipIf(skip)(
  `unpublishing is a dry run unless told otherwise, takes files and records along, and is recorded${name}`,
  async () => {
    for (const one of ["a", "b", "c"]) world.put(`bronze:gone/${one}.tif`, scene({ seed: one.charCodeAt(0) }));
    const made = await world.run("process_raster_collection", {
      sources: { prefix: "bronze:gone/" },
      collection: "gone",
    });
    const items = await world.items("gone");
    const by_id = { collection: "gone", item_ids: ["a", "never"] };
    const dry = await world.run("unpublish_raster", by_id);
    expect(dry).toMatchObject({
      status: "completed",
      result: { dry_run: true, removed_items: 0, missing: ["never"], would_remove: { item_count: 1, file_count: 2 } },
    });
    expect(await world.items("gone")).toHaveLength(3);

    const one = await world.run("unpublish_raster", { ...by_id, dry_run: false, reason: "wrong scene" });
    expect(one).toMatchObject({
      status: "completed",
      result: { removed_items: 1, removed_files: 2, missing_count: 1 },
    });
    expect((await world.items("gone")).map(({ id }) => id)).toEqual(["b", "c"]);
    await eventually(() => files(items[0]!).filter(there).length === 0);
    const [event] = await world.db.sql<{ reason: string; data: { item_ids: string[] } }>`
    select reason, data from app.events where kind = 'items.removed' and job_id = ${one.job_id}`;
    expect(event).toMatchObject({ reason: "wrong scene", data: { item_ids: ["a"] } });

    const rest = await world.run("unpublish_raster", { job_id: made.job_id, dry_run: false });
    expect(rest).toMatchObject({ status: "completed", result: { removed_items: 2 } });
    expect(await world.items("gone")).toEqual([]);
    expect((await recorded()).filter((ref) => ref.startsWith("silver:gone/"))).toEqual([]);
    // The files are removed once the finish has been answered.
    await eventually(() => items.flatMap(files).filter(there).length === 0);
    // Once more is no error.
    const again = await world.run("unpublish_raster", { job_id: made.job_id, dry_run: false }, { mode: "force" });
    expect(again).toMatchObject({ status: "completed", result: { removed_items: 0 } });
  },
);

test.skipIf(skip)(
  `a source that changes after it was checked is not worked on; a repeated check is${name}`,
  async () => {
    world.put("bronze:sums/scene.tif", scene());
    const made = await world.run("process_raster", { source: "bronze:sums/scene.tif", collection: "sums" });
    const [item] = await world.items("sums");
    const bytes = readFileSync(world.path("bronze", "sums/scene.tif"));
    expect(item!.properties["fanfold:source_sha256"]).toBe(createHash("sha256").update(bytes).digest("hex"));
    world.put("bronze:sums/scene.tif", scene({ seed: 99 }));
    await world.engine.operate.retryStage(made.job_id, "cog");
    const changed = await world.ended(made.job_id);
    expect(changed.status).toBe("failed");
    expect(await errors(made.job_id)).toMatch(/source_changed.*--stage validate/);
    await world.engine.operate.retryStage(made.job_id, "validate");
    expect((await world.ended(made.job_id)).status).toBe("completed");
    const [after] = await world.items("sums");
    expect(after!.properties["fanfold:source_sha256"]).not.toBe(item!.properties["fanfold:source_sha256"]);
    // The file of the first epoch went with the item that named it.
    await eventually(() => files(item!).filter(there).length === 0);
    expect(files(after!).filter(there)).toHaveLength(2);
    expect(await world.engine.operate.verify(made.job_id)).toMatchObject({ ok: true, problems: [] });
  },
);

test.skipIf(skip)(
  `when only the catalogue fails the COGs are there and told, and a resume registers them${name}`,
  async () => {
    for (const one of ["a", "b"]) world.put(`bronze:later/${one}.tif`, scene({ seed: one.charCodeAt(0) }));
    const wanted = { sources: { prefix: "bronze:later/" }, collection: "later" };
    await world.db.script("alter function stac.put_items rename to put_items_away");
    const first = await world
      .run("process_raster_collection", wanted)
      .finally(() => world.db.script("alter function stac.put_items_away rename to put_items"));
    expect(first.stages.map(({ name, status }) => [name, status]).slice(3)).toEqual([
      ["cog", "completed"],
      ["register", "failed"],
      ["publish", "skipped"],
    ]);
    expect(first).toMatchObject({
      status: "partial_success",
      resumable: true,
      deliverables: [{ name: "cogs", count: 2, usable: true }],
    });
    expect(await world.items("later")).toEqual([]);
    await world.engine.operate.resume(first.job_id);
    const second = await world.ended(first.job_id);
    expect(second).toMatchObject({ status: "completed", result: { item_count: 2 } });
    const items = await world.items("later");
    expect(items.flatMap(files).filter(there)).toHaveLength(4);
    // No COG was made twice.
    const [runs] = await world.db.sql<{ n: number }>`
    select count(*)::integer as n from app.attempts a join app.stages s using (stage_id) where s.job_id = ${first.job_id} and s.name = 'cog'`;
    expect(runs!.n).toBe(0);
  },
);

for (const [who, judge, why_not] of judges) {
  const reason = why_not === null ? name : ` (skipped: ${why_not})`;
  test.skipIf(skip || why_not !== null)(
    `${who} finds nothing wrong with any COG that these jobs wrote${reason}`,
    async () => {
      const cogs = (await recorded()).filter((ref) => /^silver:.*\.tif$/.test(ref));
      expect(cogs.length).toBeGreaterThan(10);
      const verdicts = await judge(cogs.map((ref) => world.path(...(ref.split(":") as [string, string]))));
      expect(cogs.filter((_, at) => !isClean(verdicts[at]!)).map((ref) => [ref, verdicts[cogs.indexOf(ref)]])).toEqual(
        [],
      );
    },
  );
}
