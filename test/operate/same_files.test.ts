// Workers prove at the start that they see the same files: a token that the first one left, which all others must find.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { proveFiles } from "../../src/engine/upkeep/file_proof.js";
import { FileSweep } from "../../src/engine/upkeep/file_sweep.js";
import { openFolderStore } from "../../src/storage/folder_store.js";
import { Zones, zonesBelow } from "../../src/storage/zones.js";
import { start } from "../cli/fake_terminal.js";
import { type FreshDatabase, freshDatabase } from "../postgres.js";

const app = ["--app", fileURLToPath(new URL("../cli/fixture_app.ts", import.meta.url))];
let database: FreshDatabase;
let root: string;
beforeEach(async () => {
  database = await freshDatabase();
  root = await mkdtemp(join(tmpdir(), "fanfold-same-"));
  onTestFinished(async () => {
    await database.drop();
    await rm(root, { recursive: true, force: true });
  });
});

function fanfold(folder: string, ...argv: string[]) {
  const env = { DATABASE_URL: database.url, FANFOLD_DATA_DIR: join(root, folder) };
  return start([...argv, ...app], { env }).done;
}

function placesIn(folder: string) {
  const dir = join(root, folder);
  const zones = new Zones(zonesBelow(join(dir, "zones")));
  return { db: database.db, tenant: "default", zones, store: openFolderStore(join(dir, "storage")) };
}

test("a worker that sees other files than the others does not start, and is told which, and what to do", async () => {
  expect((await fanfold("here", "work", "--once")).code).toBe(0);
  // The same places again, and another worker beside.
  expect((await fanfold("here", "work", "--once")).code).toBe(0);
  const other = await fanfold("there", "work", "--once");
  expect(other.code).not.toBe(0);
  expect(other.err).toContain("this process sees other files than the others");
  expect(other.err).toContain(join(root, "here", "storage"));
  expect(other.err).toContain("FANFOLD_STORAGE_DIR");
  expect(other.err).toContain("FANFOLD_ZONE_SILVER");
  const served = await fanfold("there", "serve", "--port", "0");
  expect(served.err).toContain("this process sees other files than the others");
  const looked = await fanfold("there", "doctor", "--json");
  const findings = JSON.parse(looked.out).findings as { name: string; level: string; fix?: string }[];
  const of_files = findings.filter(({ name }) => name.startsWith("files "));
  expect(of_files.map(({ level }) => level)).toEqual(["fail", "fail", "fail", "fail"]);
  expect(of_files[0]!.fix).toContain("fanfold files prove --renew");
  expect((await fanfold("there", "files", "prove")).code).toBe(1);
  // Moved for all: the former place is the wrong one now.
  expect((await fanfold("there", "files", "prove", "--renew")).code).toBe(0);
  expect((await fanfold("there", "work", "--once")).code).toBe(0);
  expect((await fanfold("here", "work", "--once")).err).toContain("this process sees other files");
});

test("of many that are the first at once one leaves the token, and all find it", async () => {
  const many = await Promise.all(Array.from({ length: 6 }, () => proveFiles(placesIn("shared"))));
  const states = many.flat().map(({ state }) => state);
  expect(states.filter((state) => state === "first")).toHaveLength(4);
  expect(new Set(states)).toEqual(new Set(["first", "same"]));
  expect((await proveFiles(placesIn("elsewhere"))).map(({ state }) => state)).toEqual([
    "other",
    "other",
    "other",
    "other",
  ]);
});

test("looking leaves nothing behind, and the sweep leaves tokens alone", async () => {
  expect((await proveFiles(placesIn("shared"), { leave: false })).map(({ state }) => state)).toEqual(
    Array(4).fill("first"),
  );
  expect(await database.db.sql`select place from app.file_places`).toEqual([]);
  const parts = placesIn("shared");
  await proveFiles(parts);
  const late = () => Date.now() + 1000 * 3_600_000;
  const sweep = new FileSweep({ ...parts, log: pino({ level: "silent" }), results: null, now: late });
  expect((await sweep.uploads("default")).found).toEqual([]);
  expect((await sweep.zone("default", "silver")).found).toEqual([]);
  expect((await proveFiles(parts)).map(({ state }) => state)).toEqual(Array(4).fill("same"));
  // A tenant's own list does not show them.
  expect((await parts.zones.store("silver", "default").list("")).entries).toEqual([]);
});
