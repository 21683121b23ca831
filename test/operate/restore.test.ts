// Yesterday's database and today's files: docs/operate.md walked through with pg_dump and pg_restore, and what reconcile makes of it.
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { createRegistry } from "../../src/core/declare/registry.js";
import type { Engine } from "../../src/engine/engine.js";
import { openEngine } from "../../src/engine/open_engine.js";
import { proveFiles } from "../../src/engine/upkeep/file_proof.js";
import { reconcile } from "../../src/engine/upkeep/reconcile.js";
import { startWorker } from "../../src/worker/worker.js";
import { start } from "../cli/fake_terminal.js";
import { claim, register } from "../engine/floor.js";
import { freshDatabase, realServer } from "../postgres.js";
import { onAdmin } from "../postgres_server.js";

const make = defineHandler("rs.make", {}, async (_, ctx) => {
  const file = join(await ctx.scratch(), "tile.bin");
  await writeFile(file, `tile ${ctx.ordinal}`);
  const asset = { zone: "silver" as const, prefix: `tiles/${ctx.ordinal}`, name: "tile.bin", media_type: "text/plain" };
  await ctx.zones.publish(file, asset);
  return { long: "x".repeat(1_100_000) };
});
const job = (type: string) => defineJob({ type, stages: [{ name: "make", task: "rs.make", tasks: { count: 2 } }] });
const jobs = [job("rs_before"), job("rs_running"), job("rs_after")];
const registry = createRegistry({ jobs, handlers: [make] });

/** pg_dump reads servers up to its own version. */
async function hasTools(): Promise<boolean> {
  const { version } = await realServer();
  const { stdout } = spawnSync("pg_dump", ["--version"], { encoding: "utf8" });
  return Number(/(\d+)\./.exec(stdout ?? "")?.[1] ?? 0) >= Number.parseInt(version, 10);
}

function tool(name: string, ...argv: string[]): void {
  const { status, stderr } = spawnSync(name, argv, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`);
}

async function run(engine: Engine, type: string): Promise<string> {
  const { job_id } = await engine.submit(type, {});
  const worker = await startWorker(engine);
  await engine.wait(job_id);
  await worker.stop();
  return job_id;
}

const place = ({ db, tenant, zones, shared_store: store }: Engine) => ({ db, tenant, zones, store });

test("after yesterday's database is restored, reconcile finds what does not fit, mends it, and finds nothing then", async (ctx) => {
  if (!(await hasTools())) return ctx.skip("there is no pg_dump that reads this server");
  const root = await mkdtemp(join(tmpdir(), "fanfold-restore-"));
  const { url, db, drop } = await freshDatabase({ own: true });
  const restored = `fanfold_restored_${process.pid}`;
  const { admin_url, url_for } = await realServer();
  onTestFinished(async () => {
    await drop();
    await onAdmin(admin_url, (admin) => admin.script(`drop database if exists ${restored} with (force)`));
    await rm(root, { recursive: true, force: true });
  });
  const open = async (database_url: string) => {
    const engine = await openEngine({ database_url, registry, storage_dir: join(root, "storage") });
    onTestFinished(() => engine.close());
    return engine;
  };
  const engine = await open(url);
  await proveFiles(place(engine));
  const before = await run(engine, "rs_before");
  // A process that holds tasks, and will be gone when the backup is restored.
  await engine.submit("rs_running", {});
  const gone = await register(db, ["rs.make"]);
  await claim(db, gone, ["rs.make"], 2);
  const dump = join(root, "fanfold.dump");
  tool("pg_dump", "--format=custom", `--file=${dump}`, url_for(new URL(url).pathname.slice(1)));

  // What happens after the backup is not in it.
  const after = await run(engine, "rs_after");
  const [first, second] = (await engine.assets.list({ job_id: before })).assets;
  await engine.zones.store("silver", "default").remove(first!.key);
  const lost = (await engine.assets.list({ job_id: after })).assets.map(({ key }) => `silver:${key}`);

  await onAdmin(admin_url, (admin) => admin.script(`create database ${restored} template template0`));
  tool("pg_restore", "--no-comments", `--dbname=${url_for(restored)}`, dump);
  const today = await open(url_for(restored));
  // The clock has gone on since the backup.
  await today.db.sql`update app.workers set heartbeat_at = heartbeat_at - interval '1 day'`;
  // The files are where they were: the token that lies there is in the backup.
  expect((await proveFiles(place(today))).map(({ state }) => state)).toEqual(["same", "same", "same", "same"]);

  const options = { older_than_h: 0, now: () => Date.now() + 60_000 };
  const found = await reconcile(today, options);
  const named = (kind: string, remedy: string) =>
    found.filter((one) => one.kind === kind && one.remedy === remedy).map(({ what }) => what);
  expect(named("row_without_file", "redo")).toEqual([`silver:${first!.key}`]);
  expect(named("file_without_row", "remove").sort()).toEqual(lost.sort());
  expect(named("file_without_row", "by_hand")).toHaveLength(2);
  expect(named("not_running", "take_back")).toEqual([`worker ${gone}`]);
  expect(found).toHaveLength(6);
  // It has only looked.
  expect(await reconcile(today, options)).toEqual(found.map((one) => ({ ...one, why: expect.any(String) })));

  const mended = await reconcile(today, { ...options, mend: true, redo: true });
  expect(mended.filter((one) => !one.mended).map(({ remedy }) => remedy)).toEqual(["by_hand", "by_hand"]);
  await run(today, "rs_after");
  for (const { job_id } of (await today.queries.jobs()).jobs) {
    await today.wait(job_id);
    expect(await today.operate.verify(job_id, undefined, { checksum: true })).toMatchObject({ ok: true });
  }
  const left = await reconcile(today, options);
  // The record of the file that went is of no use since its task has run again, and so is the result of its first run.
  expect(left.map(({ remedy }) => remedy).sort()).toEqual(["by_hand", "by_hand", "remove", "retract"]);
  await reconcile(today, { ...options, mend: true });
  expect(await today.assets.find(first!)).toBeNull();
  expect(await today.assets.find(second!)).not.toBeNull();

  // The same on the command line, for a person.
  const env = { DATABASE_URL: url_for(restored), FANFOLD_STORAGE_DIR: join(root, "storage"), ...zonesOf(root) };
  const told = await start(["reconcile", "--older-than", "0", "--json"], { env }).done;
  expect([told.code, told.json().left]).toEqual([1, 2]);
});

function zonesOf(root: string): Record<string, string> {
  const zones = join(root, "storage", "zones");
  return {
    FANFOLD_ZONE_BRONZE: join(zones, "bronze"),
    FANFOLD_ZONE_SILVER: join(zones, "silver"),
    FANFOLD_ZONE_GOLD: join(zones, "gold"),
  };
}
