// Zones as handlers see them, in the worker's process and in one of their own: no credential there, and no file but their own.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, onTestFinished, test, vi } from "vitest";
import { defineHandler } from "../../src/core/declare/declare.js";
import type { ZoneAsset } from "../../src/core/places/zones.js";
import { DatabaseError } from "../../src/engine/database/database.js";
import { armFault, disarmFaults } from "../../src/fault.js";
import { type IsolatedShop, openIsolated } from "./isolation_shop.js";
import { eventually, gate } from "./shop.js";
import * as handlers from "./zone_handlers.js";

async function openWithSource(...given: Parameters<typeof openIsolated>): Promise<IsolatedShop> {
  const shop = await openIsolated(...given);
  const bronze = shop.engine.zones.store("bronze", "default");
  await bronze.write("in/source.txt", Readable.from([Buffer.from("terrain")]), { media_type: "text/plain" });
  return shop;
}

/** Every file of the tenant in the zone, whoever may see it. */
async function filesIn({ engine }: IsolatedShop, zone: "silver" | "bronze"): Promise<string[]> {
  const { entries } = await engine.zones.store(zone, "default").list("");
  return entries.map(({ key }) => key);
}

test("an isolated handler reads, lists, downloads and publishes through the worker; others see the file with its finish", async () => {
  const shop = await openWithSource([handlers.makes_tile]);
  await shop.start();
  const { task_id } = await shop.engine.enqueue("makes_tile", {});
  const { status, result } = await shop.ended(task_id);
  expect(status).toBe("completed");
  expect(result).toMatchObject({ keys: ["in/source.txt"], bytes: 7, head: "terr", taken: 7 });
  const { asset } = result as { asset: ZoneAsset };
  expect(asset).toMatchObject({ zone: "silver", name: "cog.tif", bytes: 17, media_type: "image/tiff" });
  expect(await shop.engine.assets.find(asset)).toMatchObject({ sha256: asset.sha256, task_id });
});

test("of an attempt that failed nothing is seen, and its file goes", async () => {
  const shop = await openWithSource([handlers.makes_tile]);
  await shop.start({ poll_s: 0.05 });
  const { task_id } = await shop.engine.enqueue("makes_tile", { fail_first: true });
  const { result, attempt } = await shop.ended(task_id);
  expect(attempt).toBe(2);
  const { asset } = result as { asset: ZoneAsset };
  const { assets } = await shop.engine.assets.list({});
  expect(assets.map(({ key }) => key)).toEqual([asset.key]);
  await eventually(async () => (await filesIn(shop, "silver")).length === 1);
});

test("a zombie's file is never seen", async () => {
  const { passed, open: goOn } = gate();
  const published: ZoneAsset[] = [];
  const slow = defineHandler("slow", {}, async (_, ctx) => {
    const file = join(await ctx.scratch(), "cog.tif");
    writeFileSync(file, `of run ${published.length + 1}`);
    const asset = await ctx.zones.publish(file, handlers.tile);
    published.push(asset);
    if (published.length === 1) await passed;
    return asset;
  });
  const shop = await openWithSource([slow]);
  const zombie = await shop.start({ lease_s: 600, slots: 1 });
  const { task_id } = await shop.engine.enqueue("slow", {});
  await eventually(() => published.length === 1);
  expect(await shop.engine.assets.find(published[0]!)).toBeNull();
  await shop.db.sql`update app.workers set heartbeat_at = now() - interval '1 hour'`;
  await shop.engine.worker_commands.reap_workers(shop.db);
  await shop.start();
  await shop.ended(task_id);
  goOn();
  await eventually(() => zombie.stats().refused === 1);
  expect(await shop.engine.assets.find(published[0]!)).toBeNull();
  expect(await shop.engine.assets.find(published[1]!)).toMatchObject({ task_id });
  await eventually(async () => (await filesIn(shop, "silver")).length === 1);
});

test("a file stays while nobody knows whether the finish that shows it was committed", async () => {
  const once = defineHandler("once", {}, async (_, ctx) => {
    const file = join(await ctx.scratch(), "cog.tif");
    writeFileSync(file, "terrain");
    await ctx.db((session) => session.sql`insert into public.once values (1)`, { with_finish: true });
    return ctx.zones.publish(file, handlers.tile);
  });
  const shop = await openWithSource([once]);
  await shop.db.script("create table public.once (n int primary key); grant all on public.once to public");
  const { is_finished_by } = shop.engine.worker_commands;
  let asked = 0;
  // The answer to the commit is lost, and those who ask afterwards ask too early.
  const slow = (async (db, place) => (await is_finished_by(db, place)) && ++asked === 1) as typeof is_finished_by;
  Object.assign(shop.engine, { worker_commands: { ...shop.engine.worker_commands, is_finished_by: slow } });
  armFault("after-writes-commit", () => {
    throw new DatabaseError("08006", "the connection was lost after the commit");
  });
  onTestFinished(disarmFaults);
  const remove = vi.spyOn(shop.engine.zones.store("silver", "default"), "remove");
  const worker = await shop.start();
  const { task_id } = await shop.engine.enqueue("once", {});
  await eventually(() => worker.stats().failed === 1);
  const { status, result } = await shop.ended(task_id);
  expect([status, remove.mock.calls]).toEqual(["completed", []]);
  const asset = result as ZoneAsset;
  expect(await shop.engine.assets.find(asset)).toMatchObject({ task_id });
  expect(await filesIn(shop, "silver")).toEqual([asset.key]);
});

test("what a task retracts is gone with its finish, and its object soon after", async () => {
  const shop = await openWithSource([handlers.makes_tile, handlers.retracts]);
  await shop.start();
  const made = await shop.engine.enqueue("makes_tile", {});
  const { asset } = (await shop.ended(made.task_id)).result as { asset: ZoneAsset };
  const { task_id } = await shop.engine.enqueue("retracts", { zone: asset.zone, key: asset.key });
  expect(await shop.ended(task_id)).toMatchObject({ status: "completed" });
  expect(await shop.engine.assets.find(asset)).toBeNull();
  await eventually(async () => (await filesIn(shop, "silver")).length === 0);
});

test("a process can neither publish nor overwrite a file outside of its scratch directory", async () => {
  const shop = await openWithSource([handlers.strays]);
  const outside = join(shop.storage_dir, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "secret.txt"), "secret");
  await shop.start();
  const { task_id } = await shop.engine.enqueue("strays", { outside });
  const answers = (await shop.ended(task_id)).result as Record<string, string>;
  const { own, ...refused } = answers;
  expect(own).toBe("done");
  for (const [name, answer] of Object.entries(refused))
    expect([name, answer]).toEqual([name, expect.stringMatching(/^bad_path: /)]);
  expect(readdirSync(outside)).toEqual(["secret.txt"]);
  const published = await filesIn(shop, "silver");
  expect(published).toHaveLength(1);
});

test("the environment of a process has no way into a zone, and no secret", async () => {
  const shop = await openIsolated([handlers.tells_zone_environment]);
  const names = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_PROFILE",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AZURE_STORAGE_CONNECTION_STRING",
    "AZURE_STORAGE_KEY",
    "AZURE_CLIENT_SECRET",
    "DATABASE_URL",
    "FANFOLD_SECRET_KEY",
    "FANFOLD_SECRETS_DIR",
    "FANFOLD_SECRET_DEFAULT__TOKEN",
  ];
  for (const name of names) vi.stubEnv(name, "not-for-children");
  vi.stubEnv("AWS_REGION", "eu-central-1");
  await shop.start();
  vi.unstubAllEnvs();
  const { task_id } = await shop.engine.enqueue("tells_zone_environment", {});
  const environment = (await shop.ended(task_id)).result as Record<string, string>;
  expect(JSON.stringify(environment)).not.toContain("not-for-children");
  for (const name of names) expect(environment).toHaveProperty(name, "");
  expect(environment).toHaveProperty("AWS_REGION", "eu-central-1");
});
