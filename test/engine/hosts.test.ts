// What all workers share about a host: places, rate, circuit breaker. Races are proven with a transaction that is held open.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Database, Queryable } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { bothDatabases, type FreshDatabase, freshDatabase } from "../postgres.js";
import { untilWaiting } from "./lock_waits.js";

interface Entered {
  granted: boolean;
  slot_id: number;
  probe: boolean;
  reason: string;
  retry_after_s: number;
}

const scope = "api.example.com";

async function enter(db: Queryable, limits: Record<string, unknown> = {}): Promise<Entered> {
  const request = JSON.stringify({ scope, lease_s: 60, break_after: 2, window_s: 60, cool_down_s: 30, ...limits });
  const [row] = await db.sql<{ reply: Entered }>`select app.host_enter(${request}::text::json) as reply`;
  return row!.reply;
}

async function leave(db: Queryable, slot_id: number, outcome: string, more: Record<string, unknown> = {}) {
  const request = JSON.stringify({ slot_id, outcome, ...more });
  const [row] = await db.sql<{ reply: { left: boolean; breaker: string } }>`
    select app.host_leave(${request}::text::json) as reply`;
  return row!.reply;
}

/** As if so many seconds had gone by. */
async function pass(db: Queryable, seconds: number): Promise<void> {
  await db.sql`update app.host_slots set taken_at = taken_at - make_interval(secs => ${seconds}),
    expires_at = expires_at - make_interval(secs => ${seconds})`;
  await db.sql`update app.host_states set refilled_at = refilled_at - make_interval(secs => ${seconds}),
    turn_at = turn_at - make_interval(secs => ${seconds}), wait_until = wait_until - make_interval(secs => ${seconds}),
    open_until = open_until - make_interval(secs => ${seconds}), used_at = used_at - make_interval(secs => ${seconds}),
    window_began_at = window_began_at - make_interval(secs => ${seconds})`;
}

async function fail(db: Queryable, times: number): Promise<void> {
  for (let n = 0; n < times; n++) await leave(db, (await enter(db)).slot_id, "failed");
}

bothDatabases(
  "the state of a host",
  (open) => {
    let db: Database;
    beforeEach(async () => {
      db = await open();
      await db.script("truncate app.host_states, app.host_slots");
    });

    test("as many calls as allowed are under way at a time, and whoever leaves makes room", async () => {
      const [one, two] = [await enter(db, { max_concurrent: 2 }), await enter(db, { max_concurrent: 2 })];
      expect([one.granted, two.granted]).toEqual([true, true]);
      expect(await enter(db, { max_concurrent: 2 })).toMatchObject({ granted: false, reason: "busy" });
      expect(await leave(db, one.slot_id, "ok")).toMatchObject({ left: true });
      expect(await leave(db, one.slot_id, "ok")).toMatchObject({ left: false });
      expect(await enter(db, { max_concurrent: 2 })).toMatchObject({ granted: true });
    });

    test("the place of a worker that died comes back when it expires", async () => {
      const dead = await enter(db, { max_concurrent: 1, lease_s: 20 });
      expect(await enter(db, { max_concurrent: 1 })).toMatchObject({ granted: false });
      await pass(db, 21);
      expect(await enter(db, { max_concurrent: 1 })).toMatchObject({ granted: true });
      // It was only slow: what it says now moves nothing.
      expect(await leave(db, dead.slot_id, "failed")).toEqual({ left: false });
    });

    test("a rate is kept, with its burst, and each that is refused gets a later turn", async () => {
      const limits = { rate_per_s: 0.01, burst: 3 };
      for (let n = 0; n < 3; n++) expect(await enter(db, limits)).toMatchObject({ granted: true });
      const waits = [];
      for (let n = 0; n < 3; n++) waits.push((await enter(db, limits)).retry_after_s);
      expect(waits.map((wait) => Math.round(wait / 100))).toEqual([1, 2, 3]);
      await pass(db, 200);
      expect([(await enter(db, limits)).granted, (await enter(db, limits)).granted]).toEqual([true, true]);
      expect(await enter(db, limits)).toMatchObject({ granted: false, reason: "rate" });
    });

    test("failures open the circuit, one probe tries it, and its outcome closes or opens it again for longer", async () => {
      await fail(db, 2);
      const refused = await enter(db);
      expect(refused).toMatchObject({ granted: false, reason: "circuit_open" });
      expect(refused.retry_after_s).toBeGreaterThan(25);
      await pass(db, 31);
      const probe = await enter(db);
      expect(probe).toMatchObject({ granted: true, probe: true });
      expect(await enter(db)).toMatchObject({ granted: false, reason: "circuit_probing" });
      expect(await leave(db, probe.slot_id, "failed")).toMatchObject({ breaker: "open" });
      expect((await enter(db)).retry_after_s).toBeGreaterThan(55);
      await pass(db, 61);
      const second = await enter(db);
      expect(await leave(db, second.slot_id, "ok")).toMatchObject({ breaker: "closed" });
      expect(await enter(db)).toMatchObject({ granted: true, probe: false });
      const events = await db.sql<{
        kind: string;
      }>`select kind from app.events where kind like 'connector.%' order by event_id`;
      expect(events.slice(-2).map(({ kind }) => kind)).toEqual([
        "connector.circuit_opened",
        "connector.circuit_closed",
      ]);
    });

    test("a probe whose worker died is tried again by another", async () => {
      await fail(db, 2);
      await pass(db, 31);
      expect(await enter(db, { lease_s: 10 })).toMatchObject({ probe: true });
      await pass(db, 11);
      expect(await enter(db)).toMatchObject({ granted: true, probe: true });
    });

    test("a few failures among many successes, or long ago, open nothing; a refusal of ours does not count", async () => {
      for (let n = 0; n < 5; n++) await leave(db, (await enter(db)).slot_id, "ok");
      await fail(db, 2);
      expect(await enter(db)).toMatchObject({ granted: true });
      await db.script("truncate app.host_states, app.host_slots");
      await fail(db, 1);
      await pass(db, 61);
      await fail(db, 1);
      await leave(db, (await enter(db)).slot_id, "ignored");
      expect(await enter(db)).toMatchObject({ granted: true });
    });

    test("a host that asks to wait is left alone by all until then", async () => {
      await leave(db, (await enter(db)).slot_id, "throttled", { retry_after_s: 40 });
      const refused = await enter(db);
      expect(refused).toMatchObject({ granted: false, reason: "asked_to_wait" });
      expect(refused.retry_after_s).toBeGreaterThan(35);
      await pass(db, 41);
      expect(await enter(db)).toMatchObject({ granted: true });
    });

    test("what nobody has called for a day is forgotten", async () => {
      await leave(db, (await enter(db)).slot_id, "ok");
      await pass(db, 90_000);
      await enter(db, { scope: "other.example.com" });
      expect(await db.sql`select scope from app.host_states`).toEqual([{ scope: "other.example.com" }]);
    });
  },
  { shared: true },
);

let fresh: FreshDatabase;
let first: Database;
let second: Database;
beforeAll(async () => {
  fresh = await freshDatabase();
  [first, second] = [openServer(fresh.url), openServer(fresh.url)];
});
afterAll(async () => {
  await first.close();
  await second.close();
  await fresh.drop();
});

/** The second asks while the first has entered and not committed; then the first ends. */
async function race(limits: Record<string, unknown>, ends: "commit" | "rollback"): Promise<[Entered, Entered]> {
  let late: Promise<Entered> | undefined;
  let entered: Entered | undefined;
  const work = first.transaction(async (tx) => {
    entered = await enter(tx, limits);
    late = enter(second, limits);
    await untilWaiting(fresh.db);
    if (ends === "rollback") throw new Error("undone");
  });
  await work.catch((error: Error) => expect(error.message).toBe("undone"));
  return [entered!, await late!];
}

test("two workers that enter at once do not both get the last place, nor the first place of a new host", async () => {
  for (const setup of ["a new host", "a known host"]) {
    const limits = { scope: setup === "a new host" ? "new" : "known", max_concurrent: 1 };
    if (setup === "a known host") await leave(fresh.db, (await enter(fresh.db, limits)).slot_id, "ok");
    const [one, two] = await race(limits, "commit");
    expect([one.granted, two.granted, two.reason]).toEqual([true, false, "busy"]);
  }
  const [, two] = await race({ scope: "undone", max_concurrent: 1 }, "rollback");
  expect(two.granted).toBe(true);
});

test("two workers that enter at once do not both get the last token", async () => {
  const [one, two] = await race({ scope: "rate", rate_per_s: 0.01, burst: 1 }, "commit");
  expect([one.granted, two.granted, two.reason]).toEqual([true, false, "rate"]);
});

test("two workers that find the cool-down over do not both probe", async () => {
  await fail(fresh.db, 2);
  await pass(fresh.db, 31);
  const [one, two] = await race({}, "commit");
  expect([one.probe, two.granted, two.reason]).toEqual([true, false, "circuit_probing"]);
});

test("a tenant has its own hosts, and leaves nobody else's", async () => {
  await fresh.db.sql`select app.create_tenant('acme')`;
  const limits = { scope: "shared", max_concurrent: 1 };
  const mine = await enter(fresh.db, limits);
  await fresh.db.transaction(async (tx) => {
    await tx.sql`select set_config('fanfold.tenant', 'acme', true)`;
    expect(await enter(tx, limits)).toMatchObject({ granted: true });
    expect(await leave(tx, mine.slot_id, "failed")).toEqual({ left: false });
  });
  expect(await enter(fresh.db, limits)).toMatchObject({ granted: false });
});
