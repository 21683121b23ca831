// What only the embedded database has: one session with several roles, and a data folder that one process holds.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Database } from "../../src/engine/database/database.js";
import { type EmbeddedDatabase, openEmbedded } from "../../src/engine/database/embedded_database.js";
import { lockFolder } from "../../src/engine/database/folder_lock.js";
import { plainScript } from "../plain_code.js";
import { freshEmbedded } from "../postgres.js";

const refusal = (code: string) => expect.objectContaining({ name: "DatabaseError", code });

let embedded: EmbeddedDatabase;
let root: Database;

beforeAll(async () => {
  embedded = await freshEmbedded();
  root = embedded.as(null);
  await root.script(`create role reader; create role writer; create table own (a int);
    grant select on own to reader; grant select, insert on own to writer`);
});

afterAll(() => embedded.close());

const who = (db: Database) => db.sql<{ role: string }>`select current_user::text as role`;

test("every statement, script and transaction of a role runs as that role, and no other is affected", async () => {
  const reader = embedded.as("reader");
  expect(await who(reader)).toEqual([{ role: "reader" }]);
  expect(await who(root)).toEqual([{ role: "postgres" }]);
  expect(await reader.transaction(async (tx) => tx.sql`select current_user::text as role`)).toEqual([
    { role: "reader" },
  ]);
  await expect(reader.sql`insert into own values (1)`).rejects.toEqual(refusal("42501"));
  await expect(reader.script("insert into own values (1)")).rejects.toEqual(refusal("42501"));
  await expect(reader.transaction(async (tx) => tx.sql`insert into own values (1)`)).rejects.toEqual(refusal("42501"));
  const mixed = [reader, root, embedded.as("writer"), reader, root].map(who);
  expect((await Promise.all(mixed)).flat().map(({ role }) => role)).toEqual([
    "reader",
    "postgres",
    "writer",
    "reader",
    "postgres",
  ]);
});

test("a role copies as itself: with its rights, all rows or none", async () => {
  await expect(embedded.as("reader").copy("own", ["a"], [[1]])).rejects.toEqual(refusal("42501"));
  await expect(embedded.as("writer").copy("own", ["a"], [[1], ["x"]])).rejects.toEqual(refusal("22P02"));
  expect(await embedded.as("writer").copy("own", ["a"], [[7], [8]])).toBe(2);
  expect(await embedded.as("writer").copy("own", ["a"], [[9]])).toBe(1);
  expect(await root.sql`select a from own order by a`).toEqual([{ a: 7 }, { a: 8 }, { a: 9 }]);
});

test("a role that does not exist is an error and leaves the session usable", async () => {
  await expect(who(embedded.as('no "such role'))).rejects.toEqual(refusal("22023"));
  await expect(embedded.as("none such").transaction(async () => 1)).rejects.toEqual(refusal("22023"));
  expect(await who(root)).toEqual([{ role: "postgres" }]);
});

test("using the session from inside its own transaction is an error instead of waiting for ever", async () => {
  const nested = root.transaction(async (tx) => {
    await tx.sql`select 1`;
    await root.sql`select 2`;
  });
  await expect(nested).rejects.toEqual(refusal("25001"));
  expect(await root.sql`select 3 as n`).toEqual([{ n: 3 }]);
});

test("closing one view leaves the others and the session open", async () => {
  const view = embedded.as("reader");
  const heard: string[] = [];
  await view.listen("views", (payload) => heard.push(payload));
  await view.close();
  await root.sql`select pg_notify('views', 'too late')`;
  expect(heard).toEqual([]);
  expect(await who(root)).toEqual([{ role: "postgres" }]);
});

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "fanfold-folder-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

const child_script = plainScript(new URL("folder_child.ts", import.meta.url));

async function startChild(what: "open" | "lock", data_dir: string): Promise<{ child: ChildProcess; said: string }> {
  const child = spawn(process.execPath, ["--liftoff-only", child_script, what, data_dir], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [said] = await once(createInterface(child.stdout!), "line");
  return { child, said };
}

test("a second process is told who holds the folder, and after kill -9 finds all that was committed", async () => {
  const data_dir = folder();
  const { child, said } = await startChild("open", data_dir);
  expect(said).toBe("holds");
  const refused = await openEmbedded(data_dir).catch((error) => error);
  expect(refused).toMatchObject({ name: "EmbeddedFolderBusy", code: "EMBEDDED_FOLDER_BUSY", pid: child.pid });
  for (const part of [`kill ${child.pid}`, "--data-dir", "DATABASE_URL"]) expect(refused.message).toContain(part);
  child.kill("SIGKILL");
  await once(child, "exit");
  const taken = await openEmbedded(data_dir);
  expect(await taken.as(null).sql`select a from kept`).toEqual([{ a: child.pid }]);
  await expect(openEmbedded(data_dir)).rejects.toThrow(/this very process/);
  await taken.close();
  await taken.close();
  expect((await startChild("lock", data_dir)).said).toBe("holds");
});

test("of several processes that find a dead one's lock, exactly one takes it", async () => {
  const data_dir = folder();
  const gone = spawn(process.execPath, ["-e", ""]);
  await once(gone, "exit");
  writeLock(data_dir, { pid: gone.pid!, host: hostname() });
  const said = (await Promise.all([1, 2, 3, 4].map(() => startChild("lock", data_dir)))).map((one) => one.said);
  expect(said.filter((line) => line === "holds")).toHaveLength(1);
  expect(said.filter((line) => line.startsWith("EmbeddedFolderBusy"))).toHaveLength(3);
});

function writeLock(data_dir: string, holder: { pid: number; host: string; process_start?: string }): string {
  const path = join(data_dir, "lock.json");
  writeFileSync(path, JSON.stringify({ process_start: null, started: "some time", ...holder }));
  return path;
}

test("a lock is stale when its pid is another process by now, when it is this process from an earlier life, or unreadable", async () => {
  const data_dir = folder();
  writeLock(data_dir, { pid: process.ppid, host: hostname(), process_start: "1" });
  (await lockFolder(data_dir))();
  writeLock(data_dir, { pid: process.pid, host: hostname(), process_start: "1" });
  (await lockFolder(data_dir))();
  writeFileSync(join(data_dir, "lock.json"), "{half");
  (await lockFolder(data_dir))();
  writeLock(data_dir, { pid: process.ppid, host: hostname() });
  await expect(lockFolder(data_dir)).rejects.toMatchObject({ name: "EmbeddedFolderBusy", pid: process.ppid });
});

test("a lock from another host holds while it gives signs of life", async () => {
  const data_dir = folder();
  const path = writeLock(data_dir, { pid: process.pid, host: "elsewhere" });
  await expect(lockFolder(data_dir)).rejects.toThrow(/process \d+ on elsewhere/);
  const silent_since = new Date(Date.now() - 120_000);
  utimesSync(path, silent_since, silent_since);
  const release = await lockFolder(data_dir);
  expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ pid: process.pid, host: hostname() });
  release();
});

test("nobody takes the lock while another process is deciding", async () => {
  const data_dir = folder();
  const guard = join(data_dir, "lock.guard");
  mkdirSync(guard);
  const outcome = lockFolder(data_dir).catch((error) => error);
  await once(spawn(process.execPath, ["-e", ""]), "exit");
  writeLock(data_dir, { pid: process.ppid, host: hostname() });
  rmSync(guard, { recursive: true });
  expect(await outcome).toMatchObject({ name: "EmbeddedFolderBusy", pid: process.ppid });
});

test("a guard left by a process that was killed while deciding does not lock everybody out", async () => {
  const data_dir = folder();
  const guard = join(data_dir, "lock.guard");
  mkdirSync(guard);
  const long_ago = new Date(Date.now() - 60_000);
  utimesSync(guard, long_ago, long_ago);
  (await lockFolder(data_dir))();
});

test("a place that cannot hold the database is refused with the reason", async () => {
  const place = folder();
  const file = join(place, "file");
  writeFileSync(file, "");
  await expect(openEmbedded(file)).rejects.toThrow(/there is a file in its place.*--data-dir/);
  await expect(openEmbedded(join(file, "below"))).rejects.toThrow(/there is a file in its place/);
  const old = join(place, "old");
  mkdirSync(join(old, "pgdata"), { recursive: true });
  writeFileSync(join(old, "pgdata", "PG_VERSION"), "17\n");
  await expect(openEmbedded(old)).rejects.toThrow(/of Postgres 17, and this version of Fanfold speaks Postgres 18/);
  // The refusal has let go of the folder again.
  await expect(openEmbedded(old)).rejects.toMatchObject({ name: "EmbeddedFolderUnusable" });
  const server = join(place, "server");
  mkdirSync(server);
  writeFileSync(join(server, "PG_VERSION"), "15\n");
  await expect(openEmbedded(server)).rejects.toThrow(/data folder of a Postgres server/);
  const other = join(place, "other");
  mkdirSync(join(other, "pgdata"), { recursive: true });
  await expect(openEmbedded(other)).rejects.toThrow(/not a database/);
});

test("a first start that was killed half-way is begun again", async () => {
  const data_dir = folder();
  mkdirSync(join(data_dir, "pgdata"));
  writeFileSync(join(data_dir, "pgdata", "PG_VERSION"), "18\n");
  writeFileSync(join(data_dir, "initialising"), "");
  const started = await openEmbedded(data_dir);
  expect(await who(started.as(null))).toEqual([{ role: "postgres" }]);
  await started.close();
});
