// A database that is away when a process starts: it is waited for, and what time does not mend is told at once.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { quietPort } from "../faults/cluster.js";
import { TcpProxy } from "../faults/proxy.js";
import { type FreshDatabase, freshDatabase } from "../postgres.js";
import { fanfold, start } from "./fake_terminal.js";

let database: FreshDatabase;
let folder: string;

beforeAll(async () => {
  database = await freshDatabase();
  folder = await mkdtemp(path.join(tmpdir(), "fanfold-away-"));
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

function at(change: (url: URL) => void): Record<string, string> {
  const url = new URL(database.url);
  change(url);
  return { DATABASE_URL: url.href, FANFOLD_DATA_DIR: folder };
}

test("up waits for a database that is away, says so, and goes on when it is there", async () => {
  const port = await quietPort();
  const up = start(["up", "--no-http", "--slots", "1"], { env: at((url) => (url.port = String(port))) });
  await up.until(/waiting for the database, up to \d\d s more: .*ECONNREFUSED/);
  const proxy = await TcpProxy.open(Number(new URL(database.url).port), port);
  onTestFinished(() => proxy.close());
  await up.until("is up");
  up.signal("SIGTERM");
  expect((await up.done).code).toBe(0);
});

test("it is not waited for longer than told; then the reason is told, and the exit code is 5", async () => {
  const env = at((url) => (url.port = "1"));
  for (const verb of ["up", "serve"]) {
    const { code, err } = await fanfold([verb, "--wait-for-database", "1"], { env });
    expect([code, err]).toEqual([
      5,
      expect.stringMatching(/waiting for the database.*cannot be reached.*ECONNREFUSED/s),
    ]);
  }
  const without = await fanfold(["up"], { env: { ...env, FANFOLD_WAIT_FOR_DATABASE_S: "0" } });
  expect([without.code, without.err]).toEqual([5, expect.not.stringContaining("waiting")]);
});

test("a database or a login that is not there is not waited for", async () => {
  const no_database = await fanfold(["serve"], { env: at((url) => (url.pathname = "/not_there")) });
  expect([no_database.code, no_database.err]).toEqual([5, expect.not.stringContaining("waiting")]);
  const nobody = await fanfold(["up"], { env: at((url) => (url.username = "nobody_at_all")) });
  expect([nobody.code, nobody.err]).toEqual([4, expect.not.stringContaining("waiting")]);
});
