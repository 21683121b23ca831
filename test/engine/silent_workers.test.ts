// Workers that are gone before their lease is over: their connection tells it. A process that is killed leaves its sockets to the
// system, which closes them: here sessions are closed in its place.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { worker_commands } from "../../src/engine/work/commands.js";
import { type FreshDatabase, freshDatabase } from "../postgres.js";
import { eventually } from "../worker/shop.js";
import { claim, finish, one, submit } from "./floor.js";
import { bound } from "./past.js";

let fresh: FreshDatabase;
let db: Database;

beforeAll(async () => {
  fresh = await freshDatabase();
  db = fresh.db;
});
afterAll(() => fresh.drop());

/** A worker with a session of its own; `kill` ends that and says nothing. */
async function begin(connections: number) {
  const session = openServer(fresh.url);
  const worker_id = randomUUID();
  const facts = { worker_id, host: "h", pid: 1, version: "0", types: ["t.one"], slots: 1, connections, lease_s: 30 };
  const { pid } = await one(session.sql<{ pid: number }>`select pg_backend_pid() as pid`);
  const kill = async () => {
    await session.close();
    await eventually(async () => (await db.sql`select from pg_stat_activity where pid = ${pid}::integer`).length === 0);
  };
  try {
    await worker_commands.register_worker(session, facts);
  } catch (error) {
    await kill();
    throw error;
  }
  return { worker_id, session, kill };
}

test("a worker that is killed and started again and again is taken every time, and those that are connected count", async () => {
  const { half } = await one(db.sql<{ half: number }>`select current_setting('max_connections')::integer / 2 as half`);
  const each = Math.ceil(half / 12);
  for (let n = 0; n < 14; n++) await (await begin(each)).kill();
  expect(await db.sql`select from app.workers where status = 'live'`).toHaveLength(14);
  const connected = await begin(half);
  await expect(begin(1)).rejects.toMatchObject({ code: "FF008" });
  await connected.kill();
  const second = await begin(half);
  // A session that a heartbeat came by counts, whichever it was registered by.
  await worker_commands.heartbeat(db, { worker_id: second.worker_id, running: [], claims: [] });
  await second.kill();
  await expect(begin(1)).rejects.toMatchObject({ code: "FF008" });
  await db.sql`update app.workers set status = 'stopped', ended_at = now()`;
});

test("WORKER_SILENT: why and the list of workers say for how long, and not that the job moves", async () => {
  const { why } = bound(db);
  const worker = await begin(1);
  const { job_id } = await submit(db, [{ name: "only", task: "t.one", plan: { count: 3 } }]);
  const [first, second] = await claim(worker.session, worker.worker_id, ["t.one"], 2);
  await finish(worker.session, worker.worker_id, [first!]);
  expect(await why(job_id)).toMatchObject({ code: "RUNNING" });
  await worker.kill();
  const told = await why(job_id);
  expect(told).toMatchObject({
    code: "WORKER_SILENT",
    reason: expect.stringMatching(/has been silent for \d+ s: its connection to the database is gone$/),
    evidence: { worker: { worker_id: worker.worker_id }, held: 1 },
    heals: expect.stringContaining("others run what it held"),
  });
  expect(Date.parse(told.heals_at!) - Date.parse(told.since!)).toBe(30_000);
  expect(await why(`${second!.stage_id}-${second!.ordinal}`)).toMatchObject({ code: "WORKER_SILENT" });
  const listed = async () =>
    (await one(db.sql<{ reply: { workers: object[] } }>`select app.list_workers('default') as reply`)).reply.workers;
  expect(await listed()).toMatchObject([{ status: "silent", silent_s: expect.any(Number) }]);
  // Of one without a session of its own the missing heartbeat tells.
  await db.sql`update app.workers set connections = 0`;
  expect(await why(job_id)).toMatchObject({ code: "RUNNING" });
  await db.sql`update app.workers set heartbeat_at = now() - interval '16 s'`;
  expect(await why(job_id)).toMatchObject({ code: "WORKER_SILENT", evidence: { silent_s: 16 } });
  expect(await listed()).toMatchObject([{ status: "silent", silent_s: 16 }]);
});
