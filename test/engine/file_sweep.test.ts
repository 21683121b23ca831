// Leftovers: what attempts that did not finish, zombies and dead writers left goes when it is old; what users put there, what is
// recorded and what somebody is still working on never does.
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SqlSession } from "../../src/core/task/context.js";
import type { Database } from "../../src/engine/database/database.js";
import { FileKeeper } from "../../src/engine/upkeep/file_keeper.js";
import { FileSweep } from "../../src/engine/upkeep/file_sweep.js";
import { Assets } from "../../src/engine/verbs/assets.js";
import { openTaskZones } from "../../src/engine/work/task_zones.js";
import { openDiskBlobs } from "../../src/storage/disk_blobs.js";
import { Zones, zonesBelow } from "../../src/storage/zones.js";
import { sweepScratch } from "../../src/worker/run/scratch.js";
import { bothDatabases } from "../postgres.js";
import { text } from "../storage/blob_conformance.js";
import { claim, register, submit } from "./floor.js";

const dir = mkdtempSync(join(tmpdir(), "fanfold-sweep-"));
afterAll(() => rm(dir, { recursive: true, force: true }));
let made = 0;
const log = pino({ level: "silent" });
const cog = { zone: "silver" as const, prefix: "dem/tile-1", name: "cog.tif", media_type: "image/tiff" };

async function scene(db: Database) {
  const tenant_id = `s${++made}`;
  await db.sql`select app.create_tenant(${tenant_id})`;
  const root = join(dir, `scene-${made}`);
  const zones = new Zones(zonesBelow(join(root, "zones")));
  const storage_dir = join(root, "storage");
  const assets = new Assets(db, tenant_id, zones);
  // 25 hours from now everything that is written now is old.
  const sweep = (hours = 25) =>
    new FileSweep({ db, zones, log, results: openDiskBlobs(storage_dir), now: () => Date.now() + hours * 3_600_000 });
  const attempt = (place: { stage_id: number; ordinal: number } = { stage_id: 999_999, ordinal: 0 }) => {
    const recorded: ((session: SqlSession) => Promise<unknown>)[] = [];
    const own = openTaskZones({
      zones,
      assets,
      tenant_id,
      job_id: null,
      ...place,
      attempt: 1,
      record: async (work) => void recorded.push(work),
    });
    const finish = () =>
      db.transaction(async (session) => {
        for (const work of recorded.splice(0)) await work(session as SqlSession);
      });
    return { own, finish };
  };
  const store = zones.store("silver", tenant_id);
  const keys = async () => (await store.list("")).entries.map(({ key }) => key);
  return { tenant_id, zones, assets, storage_dir, sweep, attempt, store, keys, root };
}

function local(): string {
  const file = join(dir, `local-${++made}`);
  writeFileSync(file, "pixels");
  return file;
}

bothDatabases(
  "the sweep of files",
  (open) => {
    // Made here: on a busy machine the embedded one takes longer than a test may.
    beforeAll(async () => void (await open()));

    test("removes what an attempt that never finished has published, when it is a day old", async () => {
      const { tenant_id, sweep, attempt, assets, keys } = await scene(await open());
      const zombie = await attempt().own.publish(local(), cog);
      const done = attempt();
      const kept = await done.own.publish(local(), cog);
      await done.finish();
      expect(await assets.find(zombie)).toBeNull();
      // Young: somebody may still be at work.
      expect((await sweep(23).zone(tenant_id, "silver")).found).toEqual([]);
      const dry = await sweep().zone(tenant_id, "silver", { dry_run: true });
      expect(dry.found).toEqual([{ tenant_id, zone: "silver", key: zombie.key, bytes: 6, why: "unfinished" }]);
      expect((await keys()).length).toBe(2);
      expect((await sweep().zone(tenant_id, "silver")).found.length).toBe(1);
      expect(await keys()).toEqual([kept.key]);
      expect((await sweep().zone(tenant_id, "silver")).found).toEqual([]);
    });

    test("never touches users' own files, not even copies of ours and folders named alike", async () => {
      const { tenant_id, sweep, attempt, store, keys } = await scene(await open());
      const { key } = await attempt().own.publish(local(), cog);
      await store.copy(key, `backup/${key}`);
      await store.write("mine.tif", text("mine"));
      await store.write("dem/ff-1-0-1-0123456789ab-0123456789ab/cog.tif", text("alike"));
      await sweep().zone(tenant_id, "silver");
      expect((await keys()).sort()).toEqual(
        [`backup/${key}`, "mine.tif", "dem/ff-1-0-1-0123456789ab-0123456789ab/cog.tif"].sort(),
      );
    });

    test("leaves a file alone whose task is still held, however long that takes", async () => {
      const db = await open();
      const { tenant_id, sweep, attempt, keys } = await scene(db);
      const type = `t.${tenant_id}`;
      await submit(db, [{ name: "only", task: type }], { made }, { tenant: tenant_id });
      const worker = await register(db, [type]);
      const [held] = await claim(db, worker, [type]);
      await attempt({ stage_id: held!.stage_id, ordinal: held!.ordinal }).own.publish(local(), cog);
      expect((await sweep(1000).zone(tenant_id, "silver")).found).toEqual([]);
      expect((await keys()).length).toBe(1);
    });

    test("of another database that shares the place nothing is taken", async () => {
      const { tenant_id, zones, sweep, keys, assets } = await scene(await open());
      const other = { deployment: async () => "another", removeRetracted: assets.removeRetracted.bind(assets) };
      const own = openTaskZones({
        zones,
        assets: other,
        tenant_id,
        job_id: null,
        stage_id: 999_999,
        ordinal: 0,
        attempt: 1,
        record: async () => {},
      });
      await own.publish(local(), cog);
      expect((await sweep().zone(tenant_id, "silver")).found).toEqual([]);
      expect((await keys()).length).toBe(1);
    });

    test("removes what was retracted by somebody who died, and then its row", async () => {
      const db = await open();
      const { sweep, attempt, assets, keys, tenant_id } = await scene(db);
      const one = attempt();
      const asset = await one.own.publish(local(), cog);
      await one.finish();
      await one.own.retract(asset);
      await one.finish();
      const ours = (found: { tenant_id: string }[]) => found.filter((left) => left.tenant_id === tenant_id).length;
      expect(ours(await sweep().retracted())).toBe(0);
      expect(ours(await sweep().retracted({ quiet_s: 0, dry_run: true }))).toBe(1);
      expect(await keys()).toEqual([asset.key]);
      expect(ours(await sweep().retracted({ quiet_s: 0 }))).toBe(1);
      expect(await keys()).toEqual([]);
      expect(await db.sql`select 1 from app.assets where key = ${asset.key}`).toEqual([]);
      expect(await assets.find(asset)).toBeNull();
    });

    test("removes files of results that no row names, if a worker of this database wrote them", async () => {
      const db = await open();
      const { tenant_id, storage_dir, sweep } = await scene(db);
      const type = `t.${tenant_id}`;
      await submit(db, [{ name: "only", task: type }], { made }, { tenant: tenant_id });
      const worker = await register(db, [type]);
      const [held] = await claim(db, worker, [type]);
      const { stage_id, ordinal } = held!;
      const write = (place: string, by: string) => {
        const key = `tenant-${tenant_id}/results/${place}/1-1-${by}-${randomUUID()}.json`;
        mkdirSync(dirname(join(storage_dir, key)), { recursive: true });
        writeFileSync(join(storage_dir, key), "{}");
        return key;
      };
      const orphan = write("999999/0", worker);
      write("999999/0", randomUUID());
      write(`${stage_id}/${ordinal}`, worker);
      mkdirSync(join(storage_dir, `tenant-${tenant_id}`, "reports"), { recursive: true });
      writeFileSync(join(storage_dir, `tenant-${tenant_id}`, "reports", "mine.csv"), "x");
      expect((await sweep(23).results(tenant_id)).found).toEqual([]);
      const swept = await sweep().results(tenant_id);
      expect(swept.found.map(({ key, why }) => [key, why])).toEqual([[orphan, "orphaned_result"]]);
      // Of the task that is held, of a worker of somebody else's, and what is no result.
      expect(readdirSync(join(storage_dir, `tenant-${tenant_id}`, "results", "999999", "0")).length).toBe(1);
      expect(readdirSync(join(storage_dir, `tenant-${tenant_id}`, "reports"))).toEqual(["mine.csv"]);
      // The row that names it keeps it.
      const named = write("999998/0", worker);
      await db.sql`insert into app.results (stage_id, ordinal, status, tenant_id, spill)
        values (999998, 0, 'completed', ${tenant_id}, ${JSON.stringify({ key: named })}::text::jsonb)`;
      expect((await sweep().results(tenant_id)).found).toEqual([]);
      await db.sql`delete from app.results where stage_id = 999998`;
    });

    test("goes page by page, and on from where it stopped", async () => {
      const db = await open();
      const { tenant_id, sweep, attempt, store, keys } = await scene(db);
      mkdirSync(join(store.place, "many"), { recursive: true });
      for (let n = 0; n < 1001; n++) writeFileSync(join(store.place, "many", `${n}.txt`), "");
      await attempt().own.publish(local(), { ...cog, prefix: "zz" });
      const first = await sweep().zone(tenant_id, "silver", { pages: 1 });
      expect(first.found).toEqual([]);
      expect(first.after).not.toBeNull();
      const second = await sweep().zone(tenant_id, "silver", { pages: 1, after: first.after });
      expect([second.found.length, second.after]).toEqual([1, null]);
      expect((await keys()).length).toBe(1000);
    });

    test("is done by one of many, when it is due, and told as an event", async () => {
      const db = await open();
      const { tenant_id, zones, storage_dir, attempt, keys } = await scene(db);
      await attempt().own.publish(local(), cog);
      const late = { now: () => Date.now() + 25 * 3_600_000 };
      const keeper = () => new FileKeeper({ db, zones, log, results: openDiskBlobs(storage_dir), ...late });
      await Promise.all([keeper().round(), keeper().round()]);
      expect(await keys()).toEqual([]);
      const events =
        await db.sql`select data from app.events where tenant_id = ${tenant_id} and kind = 'janitor.removed_files'`;
      expect(events).toMatchObject([{ data: { zone: "silver", files: 1, bytes: 6 } }]);
      // Not due again for hours.
      await attempt().own.publish(local(), cog);
      await keeper().round();
      expect((await keys()).length).toBe(1);
    });
  },
  { shared: true },
);

test("scratch directories of workers that are gone are removed, others never", async () => {
  const scratch = join(dir, "scratch");
  const [own, dead, alive] = [randomUUID(), randomUUID(), randomUUID()];
  for (const name of [own, dead, alive, "somebody's"]) {
    mkdirSync(join(scratch, name, "12-0-1-7"), { recursive: true });
    writeFileSync(join(scratch, name, "12-0-1-7", "in.tif"), "x");
    for (const path of [join("12-0-1-7", "in.tif"), "12-0-1-7", ""]) utimesSync(join(scratch, name, path), 0, 0);
  }
  // One that lives has written something deep inside lately.
  utimesSync(join(scratch, alive, "12-0-1-7", "in.tif"), new Date(), new Date());
  expect(await sweepScratch(scratch, own, 3_600_000, log)).toBe(1);
  expect(readdirSync(scratch).sort()).toEqual([own, alive, "somebody's"].sort());
});
