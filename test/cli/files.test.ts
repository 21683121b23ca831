// fanfold files: into zones and out of them, and what is left behind.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SqlSession } from "../../src/core/task/context.js";
import { Assets } from "../../src/engine/verbs/assets.js";
import { openTaskZones } from "../../src/engine/work/task_zones.js";
import { Zones, zonesBelow } from "../../src/storage/zones.js";
import { type FreshDatabase, freshDatabase } from "../postgres.js";
import { type Ended, type FakeOptions, start } from "./fake_terminal.js";

let database: FreshDatabase;
const dir = mkdtempSync(join(tmpdir(), "fanfold-cli-files-"));
const here = join(dir, "here");
const data_dir = join(dir, "data");
beforeAll(async () => {
  database = await freshDatabase();
  mkdirSync(join(here, "scenes", "north"), { recursive: true });
  writeFileSync(join(here, "scene 1.tif"), "pixels");
  writeFileSync(join(here, "scenes", "a.tif"), "aa");
  writeFileSync(join(here, "scenes", "north", "b.tif"), "bbb");
  writeFileSync(join(here, "scenes", ".hidden"), "x");
  symlinkSync("/etc/passwd", join(here, "scenes", "link.tif"));
});
afterAll(async () => {
  await database.drop();
  await rm(dir, { recursive: true, force: true });
});

function files(argv: string[], options: FakeOptions = {}): Promise<Ended> {
  const env = { DATABASE_URL: database.url, FANFOLD_DATA_DIR: data_dir, ...options.env };
  return start(["files", ...argv], { cwd: here, ...options, env }).done;
}

test("a file goes in and comes out again, whole", async () => {
  const put = await files(["put", "scene 1.tif", "bronze:dem/", "--json"]);
  expect(put.json()).toMatchObject({ files: [{ ref: "bronze:dem/scene 1.tif", bytes: 6 }] });
  expect(readFileSync(join(data_dir, "zones", "bronze", "tenant-default", "dem", "scene 1.tif"), "utf8")).toBe(
    "pixels",
  );
  const ls = await files(["ls", "bronze:dem/"]);
  expect(ls.out).toMatch(/6 B .*bronze:dem\/scene 1\.tif/);
  expect(ls.out).toContain("1 files, 6 B");
  const got = await files(["get", "bronze:dem/scene 1.tif", "out.tif", "--json"]);
  expect(got.json()).toMatchObject({ bytes: 6, sha256: put.json().files[0].sha256 });
  expect(readFileSync(join(here, "out.tif"), "utf8")).toBe("pixels");
  const stat = await files(["stat", "bronze:dem/scene 1.tif", "--checksum", "--json"]);
  expect(stat.json()).toMatchObject({ bytes: 6, sha256: put.json().files[0].sha256, record: null, altered: false });
});

test("a folder goes in with all its plain files, and nothing that is hidden or a link", async () => {
  const put = await files(["put", "scenes", "bronze:in", "--json"]);
  expect(put.json().files.map((one: { ref: string }) => one.ref)).toEqual(["bronze:in/a.tif", "bronze:in/north/b.tif"]);
});

test("nothing is written over without --force, neither there nor here", async () => {
  const again = await files(["put", "scene 1.tif", "bronze:dem/"]);
  expect(again).toMatchObject({ code: 2, err: expect.stringContaining("--force") });
  expect((await files(["put", "scene 1.tif", "bronze:dem/", "--force"])).code).toBe(0);
  expect((await files(["get", "bronze:dem/scene 1.tif", "out.tif"])).code).toBe(2);
  expect((await files(["get", "bronze:dem/scene 1.tif", "out.tif", "--force"])).code).toBe(0);
  expect(readdirSync(here).filter((name) => name.includes("partial"))).toEqual([]);
});

test("every problem with what is named is told, with what to do", async () => {
  const none = await files(["put", "none.tif", "other.tif", "bronze:x/"]);
  expect(none.code).toBe(2);
  expect(none.err).toContain("none.tif");
  expect(none.err).toContain("other.tif");
  expect(await files(["put", "scene 1.tif", "lead:x"])).toMatchObject({
    code: 2,
    err: expect.stringContaining("bronze:"),
  });
  expect(await files(["put", "scene 1.tif", "bronze:../x"])).toMatchObject({ code: 2 });
  expect(await files(["get", "bronze:dem/none.tif"])).toMatchObject({
    code: 2,
    err: expect.stringContaining("fanfold files ls bronze:dem/"),
  });
  expect(await files(["get", "bronze:../../x"])).toMatchObject({ code: 5, err: expect.stringContaining("is refused") });
  expect((await files(["stat", "bronze:"])).code).toBe(2);
  expect((await files(["ls", "bronze:nothing"])).out).toContain("no file begins with");
});

test("a tenant has files of its own", async () => {
  expect((await files(["ls", "bronze:", "--tenant", "acme", "--json"])).json().files).toEqual([]);
});

test("without a name it tells where the zones are; and works while another process has the embedded database", async () => {
  const zones = (await files([], { env: { FANFOLD_ZONE_GOLD: "s3://acme/gold" } })).out;
  expect(zones).toMatch(/gold\s+s3\s+s3:\/\/acme\/gold/);
  expect(zones).toContain(join(data_dir, "zones", "silver"));
  const bare = { env: { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" } };
  expect((await files(["ls", "bronze:dem/"], bare)).code).toBe(0);
});

test("a large file has a bar while somebody watches", async () => {
  writeFileSync(join(here, "large.bin"), Buffer.alloc(64 * 1024 * 1024));
  const running = start(["files", "put", "large.bin", "bronze:large.bin"], {
    cwd: here,
    live: true,
    screen_width: 120,
    env: { FANFOLD_DATA_DIR: data_dir },
  });
  expect((await running.done).code).toBe(0);
  for (const drawing of running.drawings) {
    expect(drawing).toMatch(/^[█░]{24} \d+ % {2}.* of 67\.1 MB .*\/s/);
    expect([...drawing].length).toBeLessThanOrEqual(120);
  }
  await files(["rm", "bronze:large.bin"]);
});

test("rm removes a file and its record; many only when told to, after they were shown", async () => {
  expect((await files(["rm", "bronze:dem/none.tif"])).code).toBe(2);
  expect((await files(["rm", "bronze:dem/scene 1.tif"])).out).toContain("1 file removed");
  expect((await files(["get", "bronze:dem/scene 1.tif", "again.tif"])).code).toBe(2);
  const shown = await files(["rm", "bronze:in/", "--recursive"]);
  expect(shown.out).toContain("bronze:in/north/b.tif");
  expect(shown.out).toContain("--yes");
  expect((await files(["ls", "bronze:in/", "--json"])).json().files.length).toBe(2);
  expect((await files(["rm", "bronze:in/", "--recursive", "--yes", "--json"])).json()).toMatchObject({ removed: true });
  expect((await files(["ls", "bronze:in/", "--json"])).json().files).toEqual([]);
});

test("what jobs made is listed and looked at with its record, swept when nobody finished it, and gone with rm", async () => {
  const zones = new Zones(zonesBelow(join(data_dir, "zones")));
  const assets = new Assets(database.db, "default", zones);
  const recorded: ((session: SqlSession) => Promise<unknown>)[] = [];
  const attempt = () =>
    openTaskZones({
      zones,
      assets,
      tenant_id: "default",
      job_id: null,
      stage_id: 999_999,
      ordinal: 0,
      attempt: 1,
      record: async (work) => void recorded.push(work),
    });
  const cog = { zone: "silver" as const, prefix: "dem/tile-1", name: "cog.tif", media_type: "image/tiff" };
  const made = await attempt().publish(join(here, "scene 1.tif"), cog);
  for (const work of recorded) await work(database.db as unknown as SqlSession);
  const zombie = await attempt().publish(join(here, "scene 1.tif"), cog);

  const listed = await files(["ls", "silver:", "--recorded", "--json"]);
  expect(listed.json().files).toMatchObject([{ key: made.key, media_type: "image/tiff", task_id: "999999-0" }]);
  expect((await files(["stat", `silver:${made.key}`])).out).toContain("task 999999-0");
  const file = join(data_dir, "zones", "silver", "tenant-default", made.key);
  writeFileSync(file, "Pixels");
  expect(await files(["stat", `silver:${made.key}`, "--checksum"])).toMatchObject({
    code: 1,
    out: expect.stringContaining("ALTERED"),
  });

  expect((await files(["sweep"])).out).toBe("no leftovers\n");
  const day_ago = new Date(Date.now() - 25 * 3_600_000);
  for (const { key } of [made, zombie])
    utimesSync(join(data_dir, "zones", "silver", "tenant-default", key), day_ago, day_ago);
  const found = await files(["sweep"]);
  expect(found.out).toContain(zombie.key);
  expect(found.out).not.toContain(made.key);
  expect(found.out).toContain("--remove");
  expect((await files(["sweep", "--remove", "--all-tenants", "--json"])).json()).toMatchObject({
    dry_run: false,
    leftovers: [{ key: zombie.key, why: "unfinished" }],
    not_removed: 0,
  });
  expect((await files(["sweep", "--older-than", "0.1"])).code).toBe(2);

  await files(["rm", `silver:${made.key}`]);
  expect(await database.db.sql`select 1 from app.assets`).toEqual([]);
  expect((await files(["ls", "silver:", "--json"])).json().files).toEqual([]);
});

test("doctor tells each zone's kind, and whether it can be reached and written", async () => {
  const env = {
    DATABASE_URL: database.url,
    FANFOLD_DATA_DIR: data_dir,
    FANFOLD_ZONE_GOLD: "s3://acme/gold",
    FANFOLD_S3_ENDPOINT: "http://127.0.0.1:1",
  };
  // Else the SDK looks for some on the network.
  process.env.AWS_ACCESS_KEY_ID = "none";
  process.env.AWS_SECRET_ACCESS_KEY = "none";
  const { findings } = (await start(["doctor", "--json"], { env, cwd: here }).done).json();
  const zone = (name: string) => findings.find((one: { name: string }) => one.name === `zone ${name}`);
  expect(zone("bronze")).toMatchObject({
    level: "ok",
    message: expect.stringContaining("(disk) can be reached and written"),
  });
  expect(zone("gold")).toMatchObject({
    level: "fail",
    message: expect.stringContaining("s3://acme/gold/tenant-default/ (s3) cannot be reached"),
  });
  expect(readdirSync(join(data_dir, "zones", "bronze", "tenant-default"))).not.toContain(
    expect.stringContaining("doctor"),
  );
});
