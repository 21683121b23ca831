// The jobs of one tenant take turns: small ones are not kept by wide ones, nor the other way round, and a job has one turn however many
// rows it has.
import { expect, onTestFinished, test } from "vitest";
import type { Queryable } from "../../src/engine/database/database.js";
import { worker_commands } from "../../src/engine/work/commands.js";
import { bothDatabases, freshDatabase } from "../postgres.js";
import { claim, drain, expectSound, finish, type Held, heldIn, register, submit } from "./floor.js";

const TYPE = "t.turn";

/** A worker that goes on with the turns where its last claim left them. */
function asker(db: Queryable, worker_id: string, types = [TYPE]) {
  let turns: Record<string, number> = {};
  const known = new Map<number, string>();
  return async (limit: number): Promise<Held[]> => {
    const reply = await worker_commands.claim(db, { worker_id, types, limit, after_tenant: null, turns });
    turns = { ...turns, ...reply.turns };
    for (const { stage_id, stage } of reply.stages) known.set(stage_id, stage);
    return heldIn(reply);
  };
}

function countByStage(tasks: readonly Held[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { stage } of tasks) counts[stage] = (counts[stage] ?? 0) + 1;
  return counts;
}

const wide = (db: Queryable, name: string, count = 1000, more = {}, options = {}) =>
  submit(db, [{ name, task: TYPE, plan: { count }, ...more }], {}, { type: `job_${name}`, options });

const lone = (db: Queryable, count: number) =>
  db.sql`select app.enqueue_alike(${TYPE}, ${JSON.stringify(Array.from({ length: count }, (_, n) => ({ n })))})`;

/** What `rounds` claims of `limit` tasks each brought, by stage. */
async function served(ask: (limit: number) => Promise<Held[]>, rounds: number, limit: number) {
  const tasks: Held[] = [];
  for (let round = 0; round < rounds; round++) tasks.push(...(await ask(limit)));
  return countByStage(tasks);
}

bothDatabases("turns", (open, kind) => {
  test("wide jobs share every claim, and share alike when each claim is for one task", async () => {
    const db = await open();
    const ask = asker(db, await register(db));
    for (const name of ["a", "b", "c", "d"]) await wide(db, name);
    expect(await served(ask, 1, 100)).toEqual({ a: 25, b: 25, c: 25, d: 25 });
    expect(await served(ask, 40, 1)).toEqual({ a: 10, b: 10, c: 10, d: 10 });
    expect(await served(ask, 40, 3)).toEqual({ a: 30, b: 30, c: 30, d: 30 });
    await expectSound(db);
  });

  test("a small job beside twenty wide ones has half of every claim", async () => {
    const db = await open();
    const ask = asker(db, await register(db));
    for (let n = 0; n < 20; n++) await wide(db, `wide${n}`);
    await served(ask, 5, 8);
    await wide(db, "small", 40);
    expect((await served(ask, 10, 8)).small).toBe(40);
  });

  test("small jobs take turns among themselves, and none goes before one that has waited longer", async () => {
    const db = await open();
    const ask = asker(db, await register(db));
    await wide(db, "first", 60);
    await wide(db, "second", 60);
    expect(await served(ask, 1, 40)).toEqual({ first: 20, second: 20 });
    expect(await served(ask, 20, 1)).toEqual({ first: 10, second: 10 });
    await wide(db, "third", 60);
    expect(await served(ask, 3, 1)).toEqual({ first: 1, second: 1, third: 1 });
    await expectSound(db);
  });

  test("a stream of small jobs leaves a wide one half of the slots", async () => {
    const db = await open();
    const worker = await register(db);
    const ask = asker(db, worker);
    await wide(db, "wide", 500);
    const counts: Record<string, number> = {};
    for (let n = 0; n < 20; n++) {
      for (let tiny = 0; tiny < 8; tiny++) await submit(db, [{ name: "tiny", task: TYPE }], { n, tiny });
      const tasks = await ask(8);
      for (const [stage, count] of Object.entries(countByStage(tasks))) counts[stage] = (counts[stage] ?? 0) + count;
      await finish(db, worker, tasks);
    }
    expect(counts).toEqual({ wide: 80, tiny: 80 });
  });

  test("the last tasks of a wide job do not wait behind hundreds of a later one", async () => {
    const db = await open();
    const ask = asker(db, await register(db));
    await wide(db, "early", 208);
    expect(await served(ask, 25, 8)).toEqual({ early: 200 });
    await wide(db, "late", 288);
    expect((await served(ask, 2, 8)).early).toBe(8);
  });

  test("retries have their job's turn and not one each", async () => {
    const db = await open();
    const worker = await register(db);
    const ask = asker(db, worker);
    await wide(db, "failing", 400, { max_attempts: 9 });
    await finish(db, worker, await ask(200), () => ({ category: "transient" }));
    await wide(db, "fresh", 400);
    await db.sql`update app.ready set run_at = now() where attempt > 1`;
    expect(await served(ask, 20, 2)).toEqual({ failing: 20, fresh: 20 });
    // A small job's retries stand on the ring too: new small work is not behind them.
    await wide(db, "small", 50, { max_attempts: 9 });
    await finish(
      db,
      worker,
      (await ask(120)).filter(({ stage }) => stage === "small"),
      () => ({ category: "transient" }),
    );
    await db.sql`update app.ready set run_at = now() where attempt > 1`;
    await submit(db, [{ name: "tiny", task: TYPE }]);
    const after = await served(ask, 1, 8);
    expect(after).toMatchObject({ tiny: 1, small: expect.any(Number) });
    expect(after.small).toBeLessThanOrEqual(3);
    await expectSound(db);
  });

  test("what is due later is not taken, and takes its job's turn when its time has come", async () => {
    const db = await open();
    const worker = await register(db);
    await db.sql`select app.enqueue(${TYPE}, '{"n":1}', run_at => now() + interval '1 hour')`;
    await db.sql`select app.enqueue(${TYPE}, '{"n":2}', run_at => now() + interval '1 minute')`;
    expect(await claim(db, worker, [TYPE])).toEqual([]);
    await db.sql`update app.ready set run_at = now()`;
    expect((await claim(db, worker, [TYPE])).length).toBe(2);
  });

  test("a job with many branches has one turn", async () => {
    const db = await open();
    const ask = asker(db, await register(db));
    const branches = Array.from({ length: 10 }, (_, n) => ({
      name: `branch${n}`,
      task: TYPE,
      plan: { count: 30 },
      after: [],
    }));
    await submit(db, branches, {}, { type: "branched" });
    await wide(db, "other", 300);
    // One of its branches may stand with small work, the others are one job on the ring.
    const { other, ...rest } = await served(ask, 20, 8);
    expect(other).toBeGreaterThanOrEqual(40);
    expect(Object.values(rest).reduce((sum, count) => sum + count, 0)).toBe(160 - other!);
  });

  test("tasks of one type and of several take turns alike", async () => {
    const db = await open();
    const types = ["t.one", "t.two"];
    const ask = asker(db, await register(db), types);
    const stage = (name: string, task: string) => ({ name, task, plan: { count: 500 }, after: [] });
    await submit(db, [stage("both1", "t.one"), stage("both2", "t.two")], {}, { type: "both" });
    await submit(db, [stage("single", "t.two")], {}, { type: "single" });
    const { both1 = 0, both2 = 0, single } = await served(ask, 40, 2);
    expect([both1 + both2, single]).toEqual([40, 40]);
  });

  test("lone tasks of a type are one job among the jobs", async () => {
    const db = await open();
    const ask = asker(db, await register(db));
    for (let n = 0; n < 200; n++) await db.sql`select app.enqueue(${TYPE}, '{}')`;
    await lone(db, 500);
    await wide(db, "wide", 300);
    await wide(db, "small", 20);
    expect(await served(ask, 10, 4)).toEqual({ standing: 10, wide: 10, small: 20 });
  });

  test("a job that has begun goes on before others begin, so that a small job of several stages ends soon", async () => {
    const db = await open();
    const worker = await register(db);
    const chain = ["one", "two", "three"].map((name) => ({ name, task: TYPE }));
    for (let n = 0; n < 10; n++) await submit(db, chain, { n }, { type: "chain" });
    const ask = asker(db, worker);
    const order: string[] = [];
    for (let n = 0; n < 6; n++) {
      const tasks = await ask(1);
      order.push(tasks[0]!.stage);
      await finish(db, worker, tasks);
    }
    expect(order).toEqual(["one", "two", "three", "one", "two", "three"]);
  });

  test("the higher priority goes first, whatever the turns", async () => {
    const db = await open();
    const ask = asker(db, await register(db));
    await wide(db, "low", 500);
    await wide(db, "high", 200, {}, { priority: 5 });
    await wide(db, "highest", 10, {}, { priority: 9 });
    expect(await served(ask, 1, 10)).toEqual({ highest: 10 });
    expect(await served(ask, 20, 10)).toEqual({ high: 200 });
    expect(await served(ask, 1, 10)).toEqual({ low: 10 });
  });

  test("jobs at their max_parallel are passed over, however many they are", async () => {
    const db = await open();
    const worker = await register(db);
    for (let n = 0; n < 150; n++) await wide(db, `narrow${n}`, 200, { max_parallel: 1 });
    expect((await claim(db, worker, [TYPE])).length).toBe(150);
    await wide(db, "open", 200);
    const ask = asker(db, worker);
    expect(await served(ask, 3, 8)).toEqual({ open: 24 });
  });

  test("what is handed back keeps its place before what came later", async () => {
    const db = await open();
    const worker = await register(db);
    await wide(db, "held", 8);
    const tasks = await claim(db, worker, [TYPE], 8);
    await wide(db, "later", 8);
    await worker_commands.release(db, { worker_id: worker, items: [{ c: tasks[0]!.claim_id, o: [6, 7] }] });
    expect((await claim(db, worker, [TYPE], 1)).map(({ stage }) => stage)).toEqual(["held"]);
    await drain(db, worker, [TYPE]);
  });

  test("a full claim says when jobs share it", async () => {
    const db = await open();
    const worker_id = await register(db);
    const shared = async (limit: number) =>
      (await worker_commands.claim(db, { worker_id, types: [TYPE], limit, after_tenant: null })).shared;
    await wide(db, "wide");
    expect(await shared(8)).toBe(false);
    for (let n = 0; n < 4; n++) await submit(db, [{ name: "tiny", task: TYPE }], { n });
    expect(await shared(6)).toBe(true);
    expect(await shared(6)).toBe(true);
    expect(await shared(6)).toBe(false);
  });

  test("neither 50,000 small tasks that wait nor 50,000 that are due later make a claim read more than a part of them", async () => {
    // In a database that others have used, indexes still hold the rows they deleted, and a claim reads those too until they are vacuumed.
    const { db, drop } = kind === "server" ? await freshDatabase({ own: true }) : { db: await open(), drop: () => {} };
    onTestFinished(drop);
    const worker_id = await register(db);
    await wide(db, "wide", 200);
    await db.sql`
      insert into app.ready (stage_id, lo, hi, tenant_id, task_type, turn, run_at)
      select s.stage_id, n, n + 1, s.tenant_id, s.task_type, case when n % 2 = 0 then -1 else n end,
        now() + case when n % 2 = 0 then interval '1 hour' else interval '0' end
        from app.stages s, generate_series(100001, 200000) n`;
    const request = JSON.stringify({ worker_id, types: [TYPE], limit: 8, after_tenant: null });
    const buffers = async (tx: Queryable) => {
      const rows = await tx.sql<{ "QUERY PLAN": [{ Plan: Record<string, number> }] }>`
        explain (analyze, buffers, format json) select app.claim(${request}::text::json)`;
      const plan = rows[0]!["QUERY PLAN"][0].Plan;
      return plan["Shared Hit Blocks"]! + plan["Shared Read Blocks"]!;
    };
    // The first one of a connection reads the catalogue too.
    const read = await db.transaction(async (tx) => [await buffers(tx), await buffers(tx)]);
    expect(read[1]).toBeLessThan(500);
  });
});
