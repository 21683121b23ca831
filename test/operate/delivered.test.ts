// What a job delivered: verify looks at every file, redo makes again what is gone; and results larger than the database takes lie in a bucket.
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { createRegistry } from "../../src/core/declare/registry.js";
import { openEngine } from "../../src/engine/open_engine.js";
import { FileSweep } from "../../src/engine/upkeep/file_sweep.js";
import { blobsOf } from "../../src/storage/open_blobs.js";
import { freshDatabase } from "../postgres.js";
import { type ObjectService, startS3 } from "../storage/object_services.js";
import { openShop, runWorker } from "../worker/shop.js";

let s3: ObjectService;
beforeAll(async () => {
  s3 = await startS3("files");
});
afterAll(() => s3?.close());

const make = defineHandler("of.make", {}, async (_, ctx) => {
  const file = join(await ctx.scratch(), "tile.bin");
  await writeFile(file, `tile ${ctx.ordinal}`);
  const asset = { zone: "silver" as const, prefix: `tiles/${ctx.ordinal}`, name: "tile.bin", media_type: "text/plain" };
  const { key } = await ctx.zones.publish(file, asset);
  return { key, long: "x".repeat(1_100_000) };
});
const fold = defineHandler("of.fold", {}, async (_, ctx) => {
  let letters = 0;
  for await (const { result } of ctx.previous) letters += (result as { long: string }).long.length;
  return { letters };
});
const job = defineJob({
  type: "of_tiles",
  stages: [
    { name: "make", task: "of.make", tasks: { count: 3 } },
    { name: "fold", task: "of.fold", parallelism: "fan_in" },
  ],
});
const parts = { jobs: [job], handlers: [make, fold] };

test("a deliverable that is gone or altered is found by verify, and redo makes it again", async () => {
  const { engine, db, worker } = await openShop(parts);
  const { job_id } = await engine.submit(job, {});
  await worker();
  await engine.wait(job_id);
  const sound = await engine.operate.verify(job_id);
  expect([sound.ok, sound.files, sound.file_count]).toEqual([true, 6, 6]);
  const { assets } = await engine.assets.list({ job_id });
  const [gone, longer, other] = assets;
  const silver = engine.zones.store("silver", "default");
  await silver.remove(gone!.key);
  await silver.write(longer!.key, pieces("something longer"));
  await silver.write(other!.key, pieces("tile X"));
  const looked = await engine.operate.verify(job_id);
  expect(looked.problems).toEqual([
    `silver:${gone!.key} is not there; task ${gone!.task_id} makes it again: fanfold redo ${gone!.task_id}`,
    expect.stringContaining(`silver:${longer!.key} has 16 bytes, not 6; task ${longer!.task_id}`),
  ]);
  const read = await engine.operate.verify(job_id, undefined, { checksum: true });
  expect(read.problems).toHaveLength(3);
  expect(read.problems[2]).toContain("is another file of the same size");
  for (const { task_id } of [gone!, longer!, other!]) {
    await engine.operate.redoTask(task_id!);
    await engine.wait(job_id);
  }
  const repaired = await engine.operate.verify(job_id, undefined, { checksum: true });
  expect(repaired.problems).toEqual([]);
  // What the redone tasks wrote, and not what it took the place of.
  expect([repaired.files, repaired.file_count]).toEqual([6, 9]);
  expect(await db.sql`select count(*)::int as n from app.results where status = 'completed'`).toEqual([{ n: 4 }]);
});

test("large results go through a bucket from one stage to the next, and are swept there", async () => {
  const { url, db, drop } = await freshDatabase();
  onTestFinished(drop);
  const zones = { s3: { endpoint: s3.endpoint, region: "us-east-1" } };
  const engine = await openEngine({
    database_url: url,
    registry: createRegistry(parts),
    storage_dir: "s3://files/large",
    zones: { ...zones, bronze: "s3://files/b", silver: "s3://files/s", gold: "s3://files/g" },
  });
  onTestFinished(() => engine.close());
  const { job_id } = await engine.submit(job, {});
  const worker = await runWorker(engine);
  await engine.wait(job_id);
  expect(await engine.result(job_id)).toEqual({ letters: 3_300_000 });
  const results = blobsOf(engine.shared_store)!;
  const keys = async () => (await results.list("tenant-default/results/")).entries.map(({ key }) => key);
  expect(await keys()).toHaveLength(3);
  expect(await engine.operate.verify(job_id, undefined, { checksum: true })).toMatchObject({ ok: true, files: 6 });
  await results.remove((await keys())[0]!);
  expect((await engine.operate.verify(job_id)).problems).toEqual([
    expect.stringMatching(/^the result of task \d+-0 is spilled: There is no object/),
  ]);
  await engine.operate.redoTask((await engine.assets.list({ job_id })).assets[0]!.task_id!);
  await engine.wait(job_id);
  expect((await engine.operate.verify(job_id)).ok).toBe(true);
  // What no row names any more, of a worker that this database knows, goes; what another database's worker has written stays.
  const stage = (await keys())[0]!.split("/")[2];
  const random = "00000000-0000-4000-8000-000000000000";
  const left = (worker_id: string) => `tenant-default/results/${stage}/0/1-999-${worker_id}-${random}.json`;
  await results.write(left(worker.worker_id), pieces("{}"));
  await results.write(left(random), pieces("{}"));
  const parts_of_sweep = { db, zones: engine.zones, log: engine.log, results };
  const sweep = new FileSweep({ ...parts_of_sweep, now: () => Date.now() + 25 * 3_600_000 });
  expect((await sweep.results("default")).found.map(({ key }) => key)).toEqual([left(worker.worker_id)]);
  expect(await keys()).toHaveLength(4);
});

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

test("an item whose file is gone is not registered, and the file is named", async () => {
  const { refuseMissing } = await import("../../src/handlers/stac/missing_files.js");
  const { engine } = await openShop(parts);
  const silver = engine.zones.store("silver", "default");
  await silver.write("here.tif", pieces("here"));
  const stat = async ({ key }: { key: string }) => silver.stat(key);
  const item = (key: string) => ({ assets: { cog: { href: "x", "fanfold:ref": `silver:${key}` } } });
  const ctx = { zones: { stat } } as unknown as Parameters<typeof refuseMissing>[0];
  const items = (...keys: string[]) => keys.map(item) as unknown as Parameters<typeof refuseMissing>[1];
  await refuseMissing(ctx, items("here.tif"));
  await expect(refuseMissing(ctx, items("here.tif", "gone.tif"))).rejects.toMatchObject({
    message: expect.stringContaining("a file of the items to register is gone: silver:gone.tif"),
    code: "file_gone",
  });
  await rm(engine.zones.store("silver", "default").place, { recursive: true, force: true });
});
