// Connections that fall silent: what the server driver does when nobody tells it that a connection is of no more use.
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, type TestContext, test } from "vitest";
import type { Database } from "../../src/engine/database/database.js";
import { openServer, type ServerOptions } from "../../src/engine/database/server_database.js";
import { TcpProxy } from "../faults/proxy.js";
import { freshDatabase } from "../postgres.js";

const refusal = (code: string) => expect.objectContaining({ name: "DatabaseError", code });
/** Everything five times as quick as it usually is. */
const tick_ms = 100;

let url: string;

beforeAll(async () => {
  const fresh = await freshDatabase({ bare: true });
  ({ url } = fresh);
  return fresh.drop;
});

async function through(
  { onTestFinished }: TestContext,
  options: ServerOptions = {},
): Promise<{ proxy: TcpProxy; db: Database }> {
  const address = new URL(url);
  const proxy = await TcpProxy.open(Number(address.port));
  address.port = String(proxy.port);
  const db = openServer(address.href, { tick_ms, ...options });
  onTestFinished(async () => {
    await db.close();
    await proxy.close();
  });
  return { proxy, db };
}

const abs = (db: Pick<Database, "sql">, n: number) => db.sql`select pg_catalog.abs(${n}::int) as reply`;
const outcomes = (work: Promise<unknown>[]) =>
  Promise.all(work.map((one) => one.then(() => "done").catch((error: { code: string }) => error.code)));

test.concurrent("a connection that fell silent is lost, and one whose statement takes its time is not", async (context) => {
  const { proxy, db } = await through(context, { max: 2, application_name: "some" });
  expect(await db.sql`select pg_sleep(2)::text as n`).toEqual([{ n: "" }]);
  const lock = (tx: Pick<Database, "sql">) => tx.sql`select pg_advisory_xact_lock(4713)`;
  const held = db.transaction(async (tx) => {
    await lock(tx);
    // New connections are well: the server itself says that it waits for what was sent.
    for (const wire of proxy.open()) wire.lose();
    await tx.sql`select 1`;
  });
  expect(await held.catch((error) => error)).toEqual(refusal("08006"));
  expect(await abs(db, -1)).toEqual([{ reply: 1 }]);
  // Nobody told the server that its client is gone, but for us: what was locked there is let go.
  await db.transaction(lock);
});

test.concurrent("when nobody answers, nobody waits: those under way are lost, those in line and those who come refused", async (context) => {
  const { proxy, db } = await through(context, { max: 2 });
  await Promise.all([db.sql`select pg_sleep(0.1)`, db.sql`select pg_sleep(0.1)`]);
  proxy.stall();
  const told = await outcomes([
    ...Array.from({ length: 4 }, (_, n) => abs(db, n)),
    ...Array.from({ length: 4 }, () => db.transaction(async () => 1)),
  ]);
  expect(new Set(told)).toEqual(new Set(["08006", "08001"]));
  expect(db.load?.()).toMatchObject({ open: 0, busy: 0, waiting: 0, stuck: false });
  // At once: no connection is tried on behalf of a caller.
  const tried = proxy.wires.length;
  await expect(abs(db, 1)).rejects.toEqual(refusal("08001"));
  expect(proxy.wires.length - tried).toBeLessThanOrEqual(1);
  proxy.heal();
  while ((await outcomes([abs(db, 1)]))[0] !== "done") await sleep(20);
  expect(await abs(db, -2)).toEqual([{ reply: 2 }]);
});

test.concurrent("bytes that are lost on the way give nobody the answer of another", async (context) => {
  const { proxy, db } = await through(context, { max: 1 });
  expect([await abs(db, -1), await abs(db, -2)]).toEqual([[{ reply: 1 }], [{ reply: 2 }]]);
  let lost = 0;
  proxy.losePieces(() => lost++ === 0);
  const first = abs(db, -3);
  // Sent apart from the first, and arrives.
  await sleep(20);
  expect(await outcomes([first, abs(db, -4)])).toEqual(["08006", "08006"]);
  expect(await abs(db, -5)).toEqual([{ reply: 5 }]);
});

test.concurrent("a statement of which only the first half arrived is lost", async (context) => {
  const { proxy, db } = await through(context, { max: 1 });
  await abs(db, 1);
  // It is parsed there, and answered: what it is to be run with does not arrive.
  let piece = 0;
  proxy.losePieces(() => ++piece === 3);
  await expect(db.sql`select ${1}::int as not_seen_before`).rejects.toEqual(refusal("08006"));
  expect(await abs(db, -1)).toEqual([{ reply: 1 }]);
});

test.concurrent("whoever waits too long for a connection is refused, and those who have one go on", async (context) => {
  const { db } = await through(context, { max: 1, wait_s: 0.5 });
  const told = await db.transaction(async (tx) => {
    const waiting = await outcomes([abs(db, 1), db.transaction(async () => 1), db.sql`select 1`]);
    expect(await tx.sql`select 1 as n`).toEqual([{ n: 1 }]);
    return waiting;
  });
  expect(told).toEqual(["53000", "53000", "53000"]);
  expect(await abs(db, -1)).toEqual([{ reply: 1 }]);
});

test.concurrent("what was sent behind others is given up when it has waited for as long as one of them may take", async (context) => {
  const { db } = await through(context, { max: 1, statement_timeout_s: 1 });
  await abs(db, 1);
  const ahead = Array.from({ length: 5 }, () => db.sql`select pg_catalog.pg_sleep(0.9) as reply`);
  const told = await outcomes([...ahead, abs(db, 1)]);
  expect(told.at(-1)).toBe("08007");
  expect(await abs(db, -1)).toEqual([{ reply: 1 }]);
});

test("a pool that is not looked after says so", async (context) => {
  const { db } = await through(context, { tick_ms: 5 });
  await abs(db, 1);
  expect(db.load?.()).toMatchObject({ stuck: false });
  // Nothing else runs meanwhile.
  for (const began = performance.now(); performance.now() - began < 200; );
  expect(db.load?.()).toMatchObject({ stuck: true });
});
