// A worker over HTTP whose zones are buckets: the bytes go straight to S3 and Azure, by addresses that these have signed, and never with the worker's key.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startRemoteWorker } from "../../src/client/worker.js";
import { defineHandler } from "../../src/core/declare/declare.js";
import { FileSweep } from "../../src/engine/upkeep/file_sweep.js";
import { emulator, type ObjectService, startAzure, startS3 } from "../storage/object_services.js";
import { openService, type TestService } from "./service.js";

let s3: ObjectService;
let azure: ObjectService;
let service: TestService;
beforeAll(async () => {
  [s3, azure] = await Promise.all([startS3("bucket"), startAzure("box")]);
  const zones = {
    bronze: "s3://bucket/bronze",
    silver: "s3://bucket/silver",
    gold: `az://${emulator.account}/box/gold`,
    s3: { endpoint: s3.endpoint, region: "us-east-1" },
    azure: { endpoint: azure.endpoint, credentials: () => ({ account_key: emulator.account_key }) },
  };
  service = await openService({ handlers: [publish] }, {}, { zones });
});
afterAll(async () => {
  await service?.close();
  await s3?.close();
  await azure?.close();
});

const publish = defineHandler("b.publish", {}, async ({ zone, fails }, ctx) => {
  const dir = await ctx.scratch();
  const { bytes } = await ctx.zones.download({ zone: "bronze", key: "in/a b.bin" }, join(dir, "in.bin"));
  const part = await ctx.zones.read({ zone: "bronze", key: "in/a b.bin" }, 2, 3);
  await writeFile(join(dir, "out.bin"), Buffer.alloc(1_500_000, 7));
  const asset = { zone, prefix: "made/x", name: "out.bin", media_type: "application/x-raster" };
  const { key, href } = await ctx.zones.publish(join(dir, "out.bin"), asset);
  if (fails === true) throw new Error("after the upload");
  return { bytes, part: Buffer.from(part).toString(), key, href };
});

test.each(["silver", "gold"] as const)("publishes into a bucket (%s), and it is seen with the finish", async (zone) => {
  const tenant = `to_${zone}`;
  const key = await service.key(tenant);
  const engine = service.engine.forTenant(tenant);
  async function* pieces() {
    yield Buffer.from("0123456789");
  }
  await engine.zones.store("bronze", tenant).write("in/a b.bin", pieces());
  const keys_sent = new Set<string>();
  const watched: typeof fetch = (address, options) => {
    const { origin } = new URL(String(address));
    if (JSON.stringify(options?.headers ?? {}).includes(key)) keys_sent.add(origin);
    return fetch(address, options);
  };
  const worker = await startRemoteWorker({ url: service.url, key, handlers: [publish], fetch: watched });
  const once = { max_attempts: 1 };
  const good = await engine.enqueue("b.publish", { zone }, once);
  const bad = await engine.enqueue("b.publish", { zone, fails: true }, once);
  const ended = async (task_id: string) => {
    for (;;) {
      const task = await engine.task(task_id);
      if (task.status === "completed" || task.status === "failed") return task;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const made = await ended(good.task_id);
  expect(made).toMatchObject({ status: "completed", result: { bytes: 10, part: "234" } });
  expect(await ended(bad.task_id)).toMatchObject({ status: "failed" });
  await worker.stop();
  // The service heard the key, the stores did not.
  expect([...keys_sent]).toEqual([service.url]);
  const { key: name } = made.result as { key: string };
  const seen = await service.call("GET", `/assets/${zone}/${name}`, { key });
  expect(seen.status).toBe(302);
  const bytes = Buffer.from(await (await fetch(seen.headers.get("location")!)).arrayBuffer());
  expect([bytes.length, bytes[0]]).toEqual([1_500_000, 7]);
  // What the failed attempt had put there is gone already: nothing is left for the sweep.
  const now = () => Date.now() + 25 * 3_600_000;
  const { found } = await new FileSweep({ db: engine.db, zones: engine.zones, log: engine.log, now }).zone(
    tenant,
    zone,
  );
  expect(found).toEqual([]);
  const { entries } = await engine.zones.store(zone, tenant).list("");
  expect(entries.map((entry) => entry.key)).toEqual([name]);
});
