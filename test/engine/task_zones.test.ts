// Files of tasks: there for others from the moment the task has finished, or never; gone for others when retracted, and really gone
// soon after, whoever dies on the way.
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ZoneName } from "../../src/core/places/zones.js";
import type { SqlSession } from "../../src/core/task/context.js";
import type { Database } from "../../src/engine/database/database.js";
import { Assets } from "../../src/engine/verbs/assets.js";
import { openTaskZones } from "../../src/engine/work/task_zones.js";
import { attemptOf } from "../../src/storage/attempt_token.js";
import { Zones, zonesBelow } from "../../src/storage/zones.js";
import { bothDatabases, type OpenDatabase } from "../postgres.js";
import { text } from "../storage/blob_conformance.js";

const dir = mkdtempSync(join(tmpdir(), "fanfold-task-zones-"));
afterAll(() => rm(dir, { recursive: true, force: true }));

let made = 0;
const cog = { zone: "silver" as const, prefix: "dem-2024/tile-x0-y1", name: "cog.tif", media_type: "image/tiff" };

/** A tenant of its own, unless told otherwise. */
async function scene(db: Database, tenant_id = `t${++made}`, at = zonesBelow(join(dir, `zones-${++made}`))) {
  await db.sql`select app.create_tenant(${tenant_id})`;
  const zones = new Zones(at);
  const assets = new Assets(db, tenant_id, zones);
  const recorded: ((session: SqlSession) => Promise<unknown>)[] = [];
  const own = openTaskZones({
    zones,
    assets,
    tenant_id,
    job_id: null,
    stage_id: 12,
    ordinal: 3,
    attempt: 1,
    record: async (work) => void recorded.push(work),
  });
  return {
    zones,
    assets,
    own,
    at,
    tenant_id,
    store: (zone: ZoneName) => zones.store(zone, tenant_id),
    /** As the worker does when the database takes the finish. */
    async finish() {
      await db.transaction(async (session) => {
        for (const work of recorded.splice(0)) await work(session as SqlSession);
      });
      await own.finished();
    },
    /** The process is gone right after the commit. */
    async finishAndDie() {
      await db.transaction(async (session) => {
        for (const work of recorded.splice(0)) await work(session as SqlSession);
      });
    },
  };
}

function local(content: string): string {
  const file = join(dir, `local-${++made}`);
  writeFileSync(file, content);
  return file;
}

const tests = (open: OpenDatabase) => {
  // Made here: on a busy machine the embedded one takes longer than a test may.
  beforeAll(async () => void (await open()));

  test("a published file is there for others with the finish, and not before", async () => {
    const { own, assets, store, finish } = await scene(await open());
    const asset = await own.publish(local("pixels"), cog);
    expect(asset).toMatchObject({ zone: "silver", name: "cog.tif", bytes: 6, media_type: "image/tiff" });
    expect(asset.key).toMatch(/^dem-2024\/tile-x0-y1\/ff-12-3-1-[0-9a-f]{12}-[0-9a-f]{12}\/cog\.tif$/);
    expect(asset.href).toBe(`fanfold://silver/${asset.key}`);
    expect(await assets.find(asset)).toBeNull();
    expect((await assets.list()).assets).toEqual([]);
    await finish();
    const { zone, key, name, bytes, sha256, media_type } = asset;
    expect(await assets.find(asset)).toEqual({
      zone,
      key,
      name,
      bytes,
      sha256,
      media_type,
      adopted: false,
      job_id: null,
      task_id: "12-3",
      created_at: expect.any(String),
      retracted_at: null,
    });
    expect(await store("silver").stat(key)).toMatchObject({ bytes: 6 });
  });

  test("two attempts of one task never write to the same key, and only the one that finished is seen", async () => {
    const db = await open();
    const zombie = await scene(db);
    const successor = await scene(db, zombie.tenant_id, zombie.at);
    const late = await zombie.own.publish(local("zombie"), cog);
    const right = await successor.own.publish(local("right"), cog);
    expect(late.key).not.toBe(right.key);
    await successor.finish();
    const { assets } = await successor.assets.list({ zone: "silver", prefix: "dem-2024/" });
    expect(assets.map(({ key }) => key)).toEqual([right.key]);
    expect(await zombie.assets.find(late)).toBeNull();
  });

  test("what a failed attempt had written goes at once", async () => {
    const { own, store } = await scene(await open());
    await own.publish(local("half"), cog);
    await own.failed();
    await own.failed();
    expect((await store("silver").list("")).entries).toEqual([]);
  });

  test("a retracted file is gone for others with the finish, and then really; doing it again is no error", async () => {
    const db = await open();
    const { own, assets, store, finish } = await scene(db);
    const asset = await own.publish(local("pixels"), cog);
    await finish();
    await own.retract(asset);
    expect(await assets.find(asset)).not.toBeNull();
    await finish();
    expect(await assets.find(asset)).toBeNull();
    expect(await store("silver").stat(asset.key)).toBeNull();
    expect(await db.sql`select 1 from app.assets where key = ${asset.key}`).toEqual([]);
    await own.retract(asset);
    await own.retract({ zone: "gold", key: "never/there.tif" });
    await finish();
  });

  test("whoever dies between the commit and the removal leaves a record that says so", async () => {
    const db = await open();
    const { own, assets, store, finish, finishAndDie, tenant_id } = await scene(db);
    const asset = await own.publish(local("pixels"), cog);
    await finish();
    await own.retract(asset);
    await finishAndDie();
    expect(await assets.find(asset)).toBeNull();
    expect(await store("silver").stat(asset.key)).not.toBeNull();
    const [row] = await db.sql<{ reply: unknown[] }>`select app.retracted_assets() as reply`;
    expect(row?.reply).toContainEqual({ tenant_id, zone: "silver", key: asset.key });
    expect(await assets.removeRetracted([asset])).toBe(1);
    expect(await assets.removeRetracted([asset])).toBe(0);
    expect(await store("silver").stat(asset.key)).toBeNull();
  });

  test("a zombie that retracts removes nothing: its finish was not taken", async () => {
    const db = await open();
    const first = await scene(db);
    const asset = await first.own.publish(local("pixels"), cog);
    await first.finish();
    const zombie = await scene(db, first.tenant_id, first.at);
    await zombie.own.retract(asset);
    await zombie.own.finished();
    expect(await first.assets.find(asset)).not.toBeNull();
    expect(await first.store("silver").stat(asset.key)).not.toBeNull();
  });

  test("an adopted file is recorded as it is, and stays when its record is retracted", async () => {
    const { own, assets, store, finish } = await scene(await open());
    const { bytes, sha256 } = await store("bronze").write("Szene 1 (Kopie).tif", text("theirs"));
    const ref = { zone: "bronze" as const, key: "Szene 1 (Kopie).tif" };
    const asset = await own.adopt(ref, { media_type: "image/tiff", bytes, sha256 });
    expect(asset).toMatchObject({
      ...ref,
      name: "Szene 1 (Kopie).tif",
      href: "fanfold://bronze/Szene%201%20(Kopie).tif",
    });
    await finish();
    expect(await assets.find(ref)).toMatchObject({ adopted: true, bytes: 6 });
    await own.adopt(ref, { media_type: "image/tiff; application=geotiff", bytes, sha256 });
    await finish();
    expect(await assets.find(ref)).toMatchObject({ media_type: "image/tiff; application=geotiff" });
    await own.retract(ref);
    await finish();
    expect(await assets.find(ref)).toBeNull();
    expect(await store("bronze").stat(ref.key)).not.toBeNull();
    const wrong = { media_type: "image/tiff", bytes: 5, sha256 };
    await expect(own.adopt(ref, wrong)).rejects.toMatchObject({ code: "altered" });
    await expect(own.adopt({ ...ref, key: "none.tif" }, wrong)).rejects.toMatchObject({ code: "missing" });
  });

  test("a tenant sees its own files only, whatever it names", async () => {
    const db = await open();
    const theirs = await scene(db, "acme");
    const asset = await theirs.own.publish(local("theirs"), cog);
    await theirs.store("bronze").write("in.tif", text("theirs"));
    await theirs.finish();
    const mine = await scene(db, "default", theirs.at);
    expect(await mine.assets.find(asset)).toBeNull();
    expect((await mine.assets.list()).assets).toEqual([]);
    expect(await mine.own.stat(asset)).toBeNull();
    expect((await mine.own.list("bronze", "")).entries).toEqual([]);
    for (const key of ["../tenant-acme/in.tif", "tenant-acme/../../tenant-acme/in.tif"]) {
      await expect(mine.own.stat({ zone: "bronze", key })).rejects.toMatchObject({ reason: "bad_key" });
    }
    await mine.own.retract(asset);
    await mine.finish();
    expect(await theirs.assets.find(asset)).not.toBeNull();
  });

  test("files are listed by zone and key, a page at a time, of a prefix or of a job", async () => {
    const { assets } = await scene(await open());
    const record = { name: "x", bytes: 1, sha256: "0".repeat(64), media_type: "image/tiff" };
    const all = ["silver:a/1", "silver:a/2", "silver:b", "gold:a/1", "bronze:z"];
    for (const one of all) {
      const [zone, key] = one.split(":") as [ZoneName, string];
      await assets.publish({ ...record, zone, key, job_id: key === "a/1" ? "abcd" : null });
    }
    const listed = async (query: object) => {
      const found: string[] = [];
      for (let after: [ZoneName, string] | null = null; ; ) {
        const page = await assets.list({ limit: 2, after, ...query });
        found.push(...page.assets.map(({ zone, key }) => `${zone}:${key}`));
        if (page.next === null) return found;
        after = page.next;
      }
    };
    expect(await listed({})).toEqual([...all].sort());
    expect(await listed({ zone: "silver" })).toEqual(["silver:a/1", "silver:a/2", "silver:b"]);
    expect(await listed({ zone: "silver", prefix: "a/" })).toEqual(["silver:a/1", "silver:a/2"]);
    expect(await listed({ job_id: "abcd" })).toEqual(["gold:a/1", "silver:a/1"]);
    await expect(assets.list({ limit: 0 })).rejects.toMatchObject({ code: "bad_request" });
  });

  test("a record that is none is refused in words", async () => {
    const { assets } = await scene(await open());
    const right = {
      zone: "silver" as const,
      key: "a/b",
      name: "b",
      bytes: 1,
      sha256: "0".repeat(64),
      media_type: "image/tiff",
    };
    const wrongs = [
      { zone: "lead" },
      { key: "../x" },
      { key: "a//b" },
      { sha256: "x" },
      { bytes: -1 },
      { media_type: "tiff\r\nx: y" },
      { media_type: 'image/tiff; a="\r\nx: y"' },
      { media_type: 'image/tiff; a="\u2028"' },
      { name: "" },
    ];
    for (const wrong of wrongs) {
      await expect(assets.publish({ ...right, ...(wrong as object) }), JSON.stringify(wrong)).rejects.toMatchObject({
        code: "bad_request",
      });
    }
    await assets.publish(right);
    await assets.publish(right);
  });

  test("a task reads a few bytes, and downloads what is not too large", async () => {
    const { own, store } = await scene(await open());
    const ref = { zone: "bronze" as const, key: "in put.bin" };
    await store("bronze").write(ref.key, text("0123456789"));
    expect(Buffer.from(await own.read(ref, 2, 3)).toString()).toBe("234");
    expect((await own.read(ref, 8, 100)).byteLength).toBe(2);
    await expect(own.read(ref, 0, 5_000_000)).rejects.toMatchObject({ code: "bad_range" });
    await expect(own.read(ref, -1, 5)).rejects.toMatchObject({ code: "bad_range" });
    const scratch = join(dir, `scratch-${++made}`);
    await mkdir(scratch);
    const file = join(scratch, "local.bin");
    expect(await own.download(ref, file)).toMatchObject({ bytes: 10, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect((await readFile(file)).toString()).toBe("0123456789");
    // Never over a file that is there.
    await expect(own.download(ref, file)).rejects.toMatchObject({ code: "EEXIST" });
    expect((await readFile(file)).toString()).toBe("0123456789");
    await expect(own.download(ref, join(scratch, "small"), { max_bytes: 9 })).rejects.toMatchObject({
      code: "too_large",
    });
    await expect(own.download({ ...ref, key: "none" }, join(scratch, "none"))).rejects.toMatchObject({
      reason: "missing",
    });
    expect(readdirSync(scratch)).toEqual(["local.bin"]);
  });

  test("a task cannot publish under a key that leaves its prefix, nor into a zone that is none", async () => {
    const { own } = await scene(await open());
    const file = local("x");
    for (const wrong of [
      { prefix: "../x" },
      { prefix: "" },
      { prefix: "/a" },
      { name: "../x" },
      { name: "a/b" },
      { name: ".x" },
    ]) {
      await expect(own.publish(file, { ...cog, ...wrong }), JSON.stringify(wrong)).rejects.toMatchObject({
        category: "permanent",
      });
    }
    await expect(own.publish(file, { ...cog, zone: "lead" as ZoneName })).rejects.toMatchObject({ code: "bad_zone" });
  });
};
bothDatabases("files of tasks", tests, { shared: true });

test("only a key whose token fits its place is taken for an attempt's", async () => {
  const key = "dem/tile/ff-12-3-1-0123456789ab-000000000000/cog.tif";
  expect(attemptOf({ deployments: [""], tenant_id: "default", zone: "silver" }, key)).toBeNull();
});
