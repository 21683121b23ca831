// The same jobs without any server, on the embedded database, with each engine this machine has.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { JobRecord } from "../../src/engine/verbs/records.js";
import type { StacItem } from "../../src/geo/stac.js";
import type { Worker } from "../../src/worker/worker.js";
import { systemGdal } from "../gdal_bin.js";
import { RasterWorld, scene } from "./raster_world.js";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const gdal = await systemGdal();
const reason = gdal.available ? null : gdal.why_not;
const engines = [
  ["wasm", null],
  ["gdal", reason],
] as const;

let world: RasterWorld;
beforeAll(async () => {
  world = await RasterWorld.open("embedded");
  world.put("bronze:rgb/c.tif", scene({ look: "rgb" }, { nodata: undefined }));
});
afterAll(() => world?.close());

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever is there
const bands = (item: StacItem) => item.assets.data!.bands as any[];

/** With what went wrong, if it did. */
async function expectCompleted({ job_id, status }: JobRecord): Promise<void> {
  const told = await world.engine.operate.errorGroups(job_id);
  expect({ status, told }).toEqual({ status: "completed", told: [] });
}

for (const [engine, why] of engines) {
  describe.skipIf(why !== null)(
    `with ${engine} on the embedded database${why === null ? "" : ` (skipped: ${why})`}`,
    () => {
      let worker: Worker;
      beforeAll(async () => {
        worker = await world.worker({ raster: { engine } });
      });
      afterAll(() => worker.stop());

      test("a broken scene costs itself only, a resume adds it, and all of it can be taken back", async () => {
        world.put(`bronze:in-${engine}/a.tif`, scene());
        world.put(`bronze:in-${engine}/b.tif`, "not yet");
        const collection = `dem-${engine}`;
        const sources = { prefix: `bronze:in-${engine}/` };
        const first = await world.run("process_raster_collection", {
          sources,
          collection,
          datetime: "2024-01-01T00:00:00Z",
        });
        expect(first).toMatchObject({ status: "partial_success", result: { item_count: 1 } });
        world.put(`bronze:in-${engine}/b.tif`, scene({ seed: 8, origin: [501_920, 100_000] }));
        await world.engine.operate.resume(first.job_id);
        const second = await world.ended(first.job_id);
        expect(second).toMatchObject({ status: "completed", result: { item_count: 2, items_in_collection: 2 } });
        const items = await world.items(collection);
        expect(items.map(({ id }) => id)).toEqual(["a", "b"]);
        expect(items[0]!.properties["fanfold:engine"]).toMatch(engine === "wasm" ? /^gdal-wasm / : /^gdal /);
        expect(await world.engine.operate.verify(first.job_id)).toMatchObject({ ok: true, problems: [] });
      });

      test("a picture is compressed as the engine can, or refused", async () => {
        const wanted = { source: "bronze:rgb/c.tif", target_crs: "source", datetime: "2024-01-01T00:00:00Z" };
        const lossy = await world.run("process_raster", {
          ...wanted,
          collection: `jpeg-${engine}`,
          compression: "jpeg",
          quality: 60,
        });
        if (engine === "wasm") {
          expect(lossy.status).toBe("failed");
          expect(JSON.stringify(await world.engine.operate.errorGroups(lossy.job_id))).toContain(
            "jpeg needs system GDAL",
          );
          return;
        }
        await expectCompleted(lossy);
        const finer = await world.run("process_raster", {
          ...wanted,
          collection: "jpeg-95",
          compression: "jpeg",
          quality: 95,
        });
        await expectCompleted(finer);
        const size = async (collection: string) =>
          (await world.items(collection))[0]!.assets.data!["file:size"] as number;
        expect(await size("jpeg-95")).toBeGreaterThan(await size("jpeg-gdal"));
        const small = await world.run("process_raster", {
          ...wanted,
          collection: "pictures",
          purpose: "visualization",
        });
        await expectCompleted(small);
        expect((await world.items("pictures"))[0]!.properties["fanfold:parameters"]).toMatchObject({
          compression: "jpeg",
        });
      });
    },
  );
}

test.skipIf(reason !== null)("both engines make the same items", async () => {
  const [wasm, gdal] = [await world.items("dem-wasm"), await world.items("dem-gdal")];
  for (const [position, item] of wasm.entries()) {
    const other = gdal[position]!;
    expect(other.geometry).toEqual(item.geometry);
    for (const field of ["proj:shape", "proj:code", "fanfold:source_sha256", "fanfold:raster_type"]) {
      expect(other.properties[field]).toEqual(item.properties[field]);
    }
    const [mine] = bands(item);
    const [theirs] = bands(other);
    for (const figure of ["minimum", "maximum", "mean", "stddev"]) {
      expect(theirs.statistics[figure]).toBeCloseTo(mine.statistics[figure], 3);
    }
  }
});
