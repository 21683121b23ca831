// Taking work: from the front of ranges, fair between tenants, by priority within one, never more than the limits allow.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { worker_commands } from "../../src/engine/work/commands.js";
import { bothDatabases } from "../postgres.js";
import { claim, drain, expectSound, finish, one, register, status, submit } from "./floor.js";

bothDatabases("claiming", (open) => {
  test("claiming a batch of a wide stage moves one number and adds one claim", async () => {
    const db = await open();
    const worker = await register(db);
    await submit(db, [{ name: "wide", task: "t.wide", plan: { count: 1000 } }]);
    const tasks = await claim(db, worker, ["t.wide"], 400);
    expect(tasks.map(({ ordinal }) => ordinal)).toEqual(Array.from({ length: 400 }, (_, i) => i));
    expect(await db.sql`select lo, hi from app.ready`).toEqual([{ lo: 400, hi: 1000 }]);
    expect(await db.sql`select held::text from app.claims`).toEqual([{ held: "{[0,400)}" }]);
    await expectSound(db);
  });

  test("a tenant with 100,000 queued tasks does not delay another tenant's ten", async () => {
    const db = await open();
    const worker = await register(db);
    await db.sql`select app.create_tenant('giant'), app.create_tenant('small')`;
    for (let page = 0; page < 10; page++) await enqueueMany(db, "giant", 10_000);
    await enqueueMany(db, "small", 10);
    const reply = await worker_commands.claim(db, {
      worker_id: worker,
      types: ["t.lone"],
      limit: 100,
      after_tenant: "small",
    });
    const taken = countByTenant(reply);
    expect(taken).toEqual({ giant: 90, small: 10 });
  });

  test("fair share goes round: the tenant after the one served last comes first", async () => {
    const db = await open();
    const worker = await register(db);
    for (const tenant of ["ada", "bea", "cleo"]) {
      await db.sql`select app.create_tenant(${tenant})`;
      await enqueueMany(db, tenant, 20);
    }
    const served: string[] = [];
    let after_tenant: string | null = null;
    for (let round = 0; round < 6; round++) {
      const reply = await worker_commands.claim(db, { worker_id: worker, types: ["t.lone"], limit: 1, after_tenant });
      served.push(reply.stages[0]!.tenant_id);
      after_tenant = reply.after_tenant;
    }
    expect(served).toEqual(["ada", "bea", "cleo", "ada", "bea", "cleo"]);
  });

  test("what a worker holds of a tenant counts towards its share: one that has nothing there comes first", async () => {
    const db = await open();
    const worker = await register(db);
    await db.sql`select app.create_tenant('giant'), app.create_tenant('small')`;
    await enqueueMany(db, "giant", 100);
    await enqueueMany(db, "small", 10);
    const request = { worker_id: worker, types: ["t.lone"], after_tenant: null };
    const first = await worker_commands.claim(db, { ...request, limit: 8, holding: { giant: 16 } });
    expect(countByTenant(first)).toEqual({ small: 8 });
    const second = await worker_commands.claim(db, { ...request, limit: 8, holding: { giant: 16, small: 8 } });
    expect(countByTenant(second)).toEqual({ giant: 6, small: 2 });
  });

  test("a worker takes one data plan of a tenant at a time, and none of a tenant for which it makes one", async () => {
    const db = await open();
    const worker = await register(db);
    await db.sql`select app.create_tenant('ada'), app.create_tenant('bea')`;
    for (const tenant of ["ada", "bea"])
      for (let n = 0; n < 3; n++)
        await submit(db, [{ name: "wide", task: "t.wide", plan: { count: 2000 } }], { n }, { tenant });
    const plans = async (planning: string[]) => {
      const request = { worker_id: worker, types: ["#plan"], limit: 8, after_tenant: null, planning };
      return countByTenant(await worker_commands.claim(db, request));
    };
    expect(await plans([])).toEqual({ ada: 1, bea: 1 });
    expect(await plans(["ada"])).toEqual({ bea: 1 });
    expect(await plans(["ada", "bea"])).toEqual({});
    expect(await plans([])).toEqual({ ada: 1, bea: 1 });
    expect(await plans(["ada"])).toEqual({});
    expect(await plans([])).toEqual({ ada: 1 });
  });

  test("nothing is taken of a tenant that rests, and the others are served meanwhile", async () => {
    const db = await open();
    const worker = await register(db);
    await db.sql`select app.create_tenant('ada'), app.create_tenant('bea')`;
    await enqueueMany(db, "ada", 4);
    await enqueueMany(db, "bea", 2);
    const taken = async (...resting: string[]) =>
      countByTenant(
        await worker_commands.claim(db, {
          worker_id: worker,
          types: ["t.lone"],
          limit: 2,
          after_tenant: null,
          resting,
        }),
      );
    expect(await taken("ada")).toEqual({ bea: 2 });
    // Also where its range is the only one that waits.
    expect(await taken("ada")).toEqual({});
    expect(await taken()).toEqual({ ada: 2 });
  });

  test("many tenants whose work is due later do not stop claiming for those whose work is due now", async () => {
    const db = await open();
    const worker = await register(db);
    await db.sql`select app.create_tenant('aaa'), app.create_tenant('zzz')`;
    await db.sql`
      with tenants as (select format('later%s', n) as tenant from generate_series(1, 700) n),
        made as (select tenant, app.create_tenant(tenant) from tenants)
      select count(app.enqueue('t.lone', run_at => now() + interval '1 day', tenant => m.tenant)) from made m`;
    await enqueueMany(db, "aaa", 3);
    await enqueueMany(db, "zzz", 3);
    const served = new Set<string>();
    let after_tenant: string | null = null;
    for (let round = 0; round < 8; round++) {
      const reply = await worker_commands.claim(db, { worker_id: worker, types: ["t.lone"], limit: 1, after_tenant });
      for (const { tenant_id } of reply.stages) served.add(tenant_id);
      after_tenant = reply.after_tenant;
    }
    expect([...served].sort()).toEqual(["aaa", "zzz"]);
  });

  test("fair share holds for wide stages, retries, tiny jobs and lone tasks alike", async () => {
    const db = await open();
    const worker = await register(db);
    await db.sql`select app.create_tenant('giant'), app.create_tenant('small')`;
    await submit(db, [{ name: "wide", task: "t.mixed", plan: { count: 900 } }], {}, { tenant: "giant" });
    for (let n = 0; n < 50; n++)
      await submit(db, [{ name: "tiny", task: "t.mixed" }], { n }, { tenant: "giant", type: "tiny" });
    await enqueueMany(db, "giant", 500, "t.mixed");
    const retried = await claim(db, worker, ["t.mixed"], 50);
    await finish(db, worker, retried, () => ({ category: "throttled", retry_after_s: 0 }));

    await submit(db, [{ name: "wide", task: "t.mixed", plan: { count: 5 } }], {}, { tenant: "small" });
    await submit(db, [{ name: "tiny", task: "t.mixed" }], {}, { tenant: "small", type: "tiny" });
    await enqueueMany(db, "small", 4, "t.mixed");
    const reply = await worker_commands.claim(db, {
      worker_id: worker,
      types: ["t.mixed"],
      limit: 20,
      after_tenant: null,
    });
    expect(countByTenant(reply)).toEqual({ giant: 10, small: 10 });
  });

  test("within a tenant the higher priority runs first, then the older", async () => {
    const db = await open();
    const worker = await register(db);
    for (const [n, priority] of [
      [1, 0],
      [2, 5],
      [3, -5],
      [4, 5],
    ] as const) {
      await db.sql`select app.enqueue('t.lone', ${JSON.stringify({ n })}::text::jsonb, priority => ${priority}::integer)`;
    }
    const order: unknown[] = [];
    for (let i = 0; i < 4; i++) order.push((await claim(db, worker, ["t.lone"], 1))[0]!.parameters);
    expect(order).toEqual([{ n: 2 }, { n: 4 }, { n: 1 }, { n: 3 }]);
  });

  test("what is due later is not claimed, and does not hide what is due now at a lower priority", async () => {
    const db = await open();
    const worker = await register(db);
    await db.sql`select app.enqueue('t.lone', '{"n":1}', run_at => now() + interval '1 hour', priority => 9)`;
    await db.sql`select app.enqueue('t.lone', '{"n":2}')`;
    expect((await claim(db, worker, ["t.lone"])).map(({ parameters }) => parameters)).toEqual([{ n: 2 }]);
    expect(await claim(db, worker, ["t.lone"])).toEqual([]);
  });

  test("no more than max_parallel tasks of a stage are held, whoever asks, and a finish frees a place", async () => {
    const db = await open();
    const [ann, bob] = [await register(db), await register(db)];
    await submit(db, [{ name: "narrow", task: "t.narrow", max_parallel: 3, plan: { count: 10 } }]);
    const first = await claim(db, ann, ["t.narrow"], 2);
    const second = await claim(db, bob, ["t.narrow"], 5);
    expect([first.length, second.length]).toEqual([2, 1]);
    expect(await claim(db, bob, ["t.narrow"])).toEqual([]);
    await finish(db, ann, first.slice(0, 1));
    expect((await claim(db, bob, ["t.narrow"])).length).toBe(1);
  });

  test("a stage at its max_parallel does not block other work of the same type", async () => {
    const db = await open();
    const worker = await register(db);
    await submit(
      db,
      [{ name: "narrow", task: "t.shared", max_parallel: 1, plan: { count: 10 } }],
      {},
      { type: "narrow" },
    );
    await submit(db, [{ name: "open", task: "t.shared", plan: { count: 4 } }], {}, { type: "open" });
    expect((await claim(db, worker, ["t.shared"])).map(({ stage }) => stage).sort()).toEqual([
      "narrow",
      "open",
      "open",
      "open",
      "open",
    ]);
  });

  test("a claim is bounded by bytes as well as by number", async () => {
    const db = await open();
    const worker = await register(db);
    const text = "x".repeat(200_000);
    for (let n = 0; n < 5; n++) await db.sql`select app.enqueue('t.big', ${JSON.stringify({ n, text })}::text::jsonb)`;
    const reply = await worker_commands.claim(db, {
      worker_id: worker,
      types: ["t.big"],
      limit: 100,
      after_tenant: null,
      bytes: 450_000,
    });
    expect(reply.claims.flatMap(({ tasks }) => tasks).length).toBe(3);
  });

  test("a retry waits for its time, keeps its place in the ledger, and counts its attempt", async () => {
    const db = await open();
    const worker = await register(db);
    const { job_id } = await submit(db, [{ name: "flaky", task: "t.flaky", plan: { count: 2 }, max_attempts: 2 }]);
    const tasks = await claim(db, worker, ["t.flaky"]);
    expect((await finish(db, worker, tasks, () => ({ category: "transient" }))).retried).toBe(2);
    expect((await status(db, job_id)).stage("flaky")).toMatchObject({ queued: 2, completed: 0, failed: 0 });
    await db.sql`update app.ready set run_at = now()`;
    const again = await claim(db, worker, ["t.flaky"]);
    expect(again.map(({ attempt }) => attempt)).toEqual([2, 2]);
    expect((await finish(db, worker, again, () => ({ category: "transient" }))).retried).toBe(0);
    expect((await status(db, job_id)).stage("flaky")).toMatchObject({ status: "failed", failed: 2 });
    expect(await one(db.sql`select count(*)::integer as n from app.attempts where outcome = 'failed'`)).toEqual({
      n: 4,
    });
  });

  test("a throttled task spends no attempt, and waits as long as it was told", async () => {
    const db = await open();
    const worker = await register(db);
    await submit(db, [{ name: "slow", task: "t.slow", max_attempts: 1 }]);
    const [task] = await claim(db, worker, ["t.slow"]);
    await finish(db, worker, [task!], () => ({ category: "throttled", retry_after_s: 60 }));
    expect(
      await one(
        db.sql`select attempt, throttles, round(extract(epoch from run_at - now()))::integer as wait_s from app.ready`,
      ),
    ).toMatchObject({ attempt: 1, throttles: 1, wait_s: 60 });
  });

  test("what is handed back keeps its attempt and can be taken by another", async () => {
    const db = await open();
    const [ann, bob] = [await register(db), await register(db)];
    await submit(db, [{ name: "wide", task: "t.wide", plan: { count: 10 } }]);
    const tasks = await claim(db, ann, ["t.wide"]);
    const items = [{ c: tasks[0]!.claim_id, o: [7, 8, 9] }];
    expect(await worker_commands.release(db, { worker_id: ann, items })).toEqual({ released: 3 });
    expect((await claim(db, bob, ["t.wide"])).map(({ ordinal, attempt }) => [ordinal, attempt])).toEqual([
      [7, 1],
      [8, 1],
      [9, 1],
    ]);
    expect((await finish(db, ann, tasks)).refused.length).toBe(3);
    await expectSound(db);
  });

  test("a finish under one claim cannot end a task of another that it does not name", async () => {
    const db = await open();
    const worker = await register(db);
    await submit(db, [{ name: "wide", task: "t.wide", plan: { count: 4 } }]);
    const [first, second] = [await claim(db, worker, ["t.wide"], 2), await claim(db, worker, ["t.wide"], 2)];
    const named = JSON.stringify([{ c: first[0]!.claim_id, g: first[0]!.stage_id, a: 1 }]);
    const done = { claims: `${second[0]!.claim_id}`, ordinals: `${first[0]!.ordinal}`, durations: "1", results: "{}" };
    const reply = await worker_commands.finish(db, { worker_id: worker, claims: named, done, failed: "[]" });
    expect([reply.accepted, reply.refused.length]).toEqual([0, 1]);
    expect(await one(db.sql`select count(*)::integer as n from app.results`)).toEqual({ n: 0 });
    await expectSound(db);
  });

  test("a worker whose lease is over loses its claims, and its tasks run again with the crash counted", async () => {
    const db = await open();
    const dead = await register(db);
    const { job_id } = await submit(db, [{ name: "wide", task: "t.wide", plan: { count: 3 } }]);
    const tasks = await claim(db, dead, ["t.wide"]);
    expect(await worker_commands.reap_workers(db)).toMatchObject({ lost_workers: 0, tasks: 0 });
    await db.sql`update app.workers set heartbeat_at = now() - interval '11 minutes'`;
    expect(await worker_commands.reap_workers(db)).toMatchObject({ lost_workers: 1, tasks: 3 });
    const late = await finish(db, dead, tasks);
    expect([late.accepted, late.refused.length]).toEqual([0, 3]);
    expect(await one(db.sql`select count(*)::integer as n from app.attempts where outcome = 'refused'`)).toEqual({
      n: 3,
    });
    const heir = await register(db);
    expect((await drain(db, heir, ["t.wide"])).length).toBe(3);
    expect((await status(db, job_id)).status).toBe("completed");
  });

  test("a crash is counted for the first tasks of each tenant, because a worker starts them tenant by tenant", async () => {
    const db = await open();
    const worker = await register(db, ["t.lone"], 1);
    await db.sql`select app.create_tenant('giant'), app.create_tenant('small')`;
    await enqueueMany(db, "giant", 9);
    await claim(db, worker, ["t.lone"], 9);
    await enqueueMany(db, "small", 5);
    await claim(db, worker, ["t.lone"], 5);
    await db.sql`update app.workers set heartbeat_at = now() - interval '1 hour'`;
    await db.sql`select app.reap_workers(gen_random_uuid())`;
    const suspected = await db.sql`
      select tenant_id, count(*)::integer as tasks from app.attempts where outcome = 'lost' group by 1 order by 1`;
    expect(suspected).toEqual([
      { tenant_id: "giant", tasks: 4 },
      { tenant_id: "small", tasks: 4 },
    ]);
  });

  test("a task that was held through three crashes is failed rather than tried for ever", async () => {
    const db = await open();
    const { job_id } = await submit(db, [{ name: "poison", task: "t.poison" }]);
    for (let crash = 1; crash <= 3; crash++) {
      await claim(db, await register(db), ["t.poison"]);
      await db.sql`update app.workers set heartbeat_at = 'epoch' where status = 'live'`;
      await worker_commands.reap_workers(db);
    }
    const seen = await status(db, job_id);
    expect([seen.status, seen.stage("poison").error?.message]).toEqual([
      "failed",
      "its worker stopped sending heartbeats, 3 times while it held this task",
    ]);
  });

  test("all live workers together may use half of the server's connections, and one too many is told so", async () => {
    const db = await open();
    const { half } = await one(
      db.sql<{ half: number }>`select current_setting('max_connections')::integer / 2 as half`,
    );
    const facts = { host: "h", pid: 1, version: "0", types: [], slots: 1, lease_s: 30 };
    const enter = (connections: number) =>
      worker_commands.register_worker(db, { ...facts, worker_id: randomUUID(), connections });
    await enter(half);
    await expect(enter(1)).rejects.toMatchObject({ code: "FF008" });
    await db.sql`update app.workers set heartbeat_at = 'epoch'`;
    await enter(1);
  });

  test("a worker declared lost may not claim under its old id", async () => {
    const db = await open();
    const worker = await register(db);
    await db.sql`update app.workers set heartbeat_at = 'epoch'`;
    await worker_commands.reap_workers(db);
    await expect(claim(db, worker, ["t.any"])).rejects.toMatchObject({ code: "FF007" });
    expect(await worker_commands.heartbeat(db, { worker_id: worker, running: [], claims: [5] })).toMatchObject({
      ok: false,
      lost: [5],
    });
  });
});

function countByTenant(reply: Awaited<ReturnType<typeof worker_commands.claim>>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { stage_id, tasks } of reply.claims) {
    const { tenant_id } = reply.stages.find((stage) => stage.stage_id === stage_id)!;
    counts[tenant_id] = (counts[tenant_id] ?? 0) + tasks.length;
  }
  return counts;
}

async function enqueueMany(
  db: Parameters<typeof claim>[0],
  tenant: string,
  count: number,
  type = "t.lone",
): Promise<void> {
  const parameters = JSON.stringify(Array.from({ length: count }, (_, n) => ({ n })));
  await db.sql`select app.enqueue_alike(${type}, ${parameters}, ${tenant})`;
}
