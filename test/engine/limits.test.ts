// Limits of a tenant: refused in SQL for everybody alike, right under concurrency, and named with limit, value and figure.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRegistry } from "../../src/core/declare/registry.js";
import { fromSqlError } from "../../src/core/errors/errors.js";
import type { Database } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { Engine } from "../../src/engine/engine.js";
import { Janitor } from "../../src/engine/upkeep/janitor.js";
import type { LimitValues } from "../../src/engine/verbs/limits.js";
import { worker_commands } from "../../src/engine/work/commands.js";
import { createLog } from "../../src/log.js";
import { freshDatabase } from "../postgres.js";
import { claim, drain, finish, one, register, submit } from "./floor.js";

let number = 0;
/** A tenant of its own for each test, with these limits. */
async function limited(db: Database, limits: Partial<LimitValues>): Promise<Engine> {
  const tenant = `limited-${++number}`;
  const engine = new Engine({
    db,
    tenant,
    registry: createRegistry({}),
    store: {} as never,
    openConnection: () => db,
    close: async () => {},
  });
  await engine.tenants.create(tenant);
  await engine.limits.change(limits);
  return engine;
}

/** The error that a call through psql ends with, as the server and the SDK tell it. */
async function refusal(call: Promise<unknown>) {
  const error = await call.then(
    () => {
      throw new Error("it was not refused");
    },
    (cause: unknown) => fromSqlError(cause) ?? cause,
  );
  return error as Error & { code: string; http_status: number; retry_after_s?: number; problems: { path: string }[] };
}

const lone = (n: number) => Array.from({ length: n }, (_, i) => ({ parameters: { i } }));
const plain = [{ name: "do", task: "t.do" }];

describe("limits", () => {
  let db: Database;
  let second: Database;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const fresh = await freshDatabase();
    ({ db, drop } = fresh);
    second = openServer(fresh.url, { max: 8 });
  });
  afterAll(async () => {
    await second.close();
    await drop();
  });

  test("queued tasks: at the limit a submit is refused with limit, figure and when to come back", async () => {
    const engine = await limited(db, { queued_tasks: 5 });
    const { tenant } = engine;
    await engine.enqueueMany("t.queued", lone(3));
    await submit(db, plain, {}, { tenant });
    const refused = await refusal(engine.enqueueMany("t.queued", lone(2)));
    expect(refused).toMatchObject({ code: "over_limit", http_status: 429, retry_after_s: 1 });
    expect(refused.message).toContain("4 tasks are queued, this call brings 2, and the limit is 5");
    expect(refused.problems[0]?.path).toBe("limits.queued_tasks");
    // Through every door alike.
    await engine.enqueue("t.queued", { last: true });
    for (const call of [
      () => submit(db, plain, { more: 1 }, { tenant }),
      () => db.sql`select app.enqueue('t.queued', tenant => ${tenant})`,
      () => engine.enqueue("t.queued", {}, { priority: 1 }),
    ]) {
      expect((await refusal(call())).code).toBe("over_limit");
    }
    // What exists already brings nothing, and is answered.
    expect((await submit(db, plain, {}, { tenant })).created).toBe(false);
    expect((await engine.limits.get()).usage).toMatchObject({ queued_tasks: 5, concurrent_tasks: 0 });
  });

  test("a call that alone is beyond a limit is refused for good", async () => {
    const engine = await limited(db, { queued_tasks: 5, submit_bytes: 100 });
    const many = await refusal(engine.enqueueMany("t.many", lone(6)));
    expect(many).toMatchObject({ code: "beyond_limit", http_status: 422 });
    expect(many.message).toContain("queues 6 tasks");
    const large = await refusal(engine.enqueue("t.many", { text: "x".repeat(200) }));
    expect(large).toMatchObject({ code: "too_large", http_status: 413 });
    expect(large.message).toMatch(/2\d\d bytes.*100 at once \(limit submit_bytes\)/);
    const { tenant } = engine;
    const job = await refusal(submit(db, plain, { text: "x".repeat(200) }, { tenant }));
    expect(job).toMatchObject({ code: "too_large" });
  });

  test("submits per second: what the bucket holds passes, then it is said when to come back", async () => {
    const engine = await limited(db, { submits_per_s: 0.01, submit_burst: 3 });
    const { tenant } = engine;
    await engine.enqueue("t.rate", {});
    await submit(db, plain, {}, { tenant });
    await submit(db, plain, {}, { tenant });
    const refused = await refusal(submit(db, plain, {}, { tenant }));
    expect(refused).toMatchObject({ code: "over_limit", problems: [{ path: "limits.submits_per_s" }] });
    expect(refused.retry_after_s).toBeGreaterThan(90);
    expect(refused.retry_after_s).toBeLessThanOrEqual(100);
    // Ten minutes later it holds three again, and no more.
    await db.sql`update app.tenant_usage set filled_at = filled_at - interval '10 minutes' where tenant_id = ${tenant}`;
    expect((await engine.limits.get()).usage.submits_left).toBe(3);
    // A bulk call takes all there is and is paid for afterwards.
    await engine.enqueueMany("t.rate", lone(10));
    expect((await refusal(engine.enqueue("t.rate", {}))).retry_after_s).toBeGreaterThan(700);
  });

  test("fan-out: a stage too wide is refused at submit where the parameters tell, also one that opens later", async () => {
    const engine = await limited(db, { fan_out: 10 });
    const { tenant } = engine;
    const wide = (n: number) => [{ name: "each", task: "t.each", plan: { count: n } }];
    await submit(db, wide(10), {}, { tenant });
    const refused = await refusal(submit(db, wide(11), { other: true }, { tenant }));
    expect(refused).toMatchObject({ code: "beyond_limit", http_status: 422 });
    expect(refused.message).toContain('stage "each" would have 11 tasks');
    expect(refused.message).toContain("10 in one stage (limit fan_out)");
    const later = [plain[0]!, { name: "each", task: "t.each", plan: { count: "{parameters.n}" } }];
    expect((await refusal(submit(db, later, { n: 5_000_000 }, { tenant }))).code).toBe("beyond_limit");
    expect((await submit(db, later, { n: 10 }, { tenant })).created).toBe(true);
    const each = [{ name: "each", task: "t.each", plan: { each: "$.list[*]" } }];
    const list = Array.from({ length: 11 }, (_, i) => i);
    expect((await refusal(submit(db, each, { list }, { tenant }))).code).toBe("beyond_limit");
    expect(await db.sql`select from app.jobs where tenant_id = ${tenant}`).toHaveLength(2);
  });

  test("fan-out that shows only at planning fails the stage for good, with limit and value", async () => {
    const engine = await limited(db, { fan_out: 3 });
    const { tenant } = engine;
    const worker = await register(db);
    const stages = (wide: object) => [
      { name: "list", task: "t.list" },
      { name: "each", task: "t.each", ...wide },
    ];
    const errorOf = async (job_id: string) =>
      (
        await one(db.sql<{ error: { code: string; message: string }; status: string }>`
          select error, status::text from app.stages where tenant_id = ${tenant} and job_id = ${job_id} and name = 'each'`)
      ).error;
    const by_data = await submit(db, stages({ parallelism: "fan_out", plan: { each: "$.items[*]" } }), {}, { tenant });
    await finish(db, worker, await claim(db, worker, ["t.list"]), () => ({ result: { items: [1, 2, 3, 4] } }));
    expect(await errorOf(by_data.job_id)).toMatchObject({
      code: "beyond_limit",
      message: expect.stringMatching(/4 tasks.*3 in one stage \(limit fan_out\)/),
    });
    expect((await engine.status(by_data.job_id)).status).toBe("failed");
    // The limit raised, it goes on.
    await engine.limits.change({ fan_out: 4 });
    await engine.operate.resume(by_data.job_id);
    await drain(db, worker, ["t.list", "t.each", "#plan"], () => ({ result: { items: [1, 2, 3, 4] } }));
    expect((await engine.status(by_data.job_id)).status).toBe("completed");
  });

  test("a plan made by code is refused at the page that makes it too wide", async () => {
    const engine = await limited(db, { fan_out: 3 });
    const { tenant } = engine;
    const blueprint = {
      type: "coded",
      stages: [{ name: "each", task: "t.each", parallelism: "single", plan: { function: "hash" } }],
    };
    await db.sql`select app.submit_jobs(${JSON.stringify(blueprint)}::text::jsonb,
      ${JSON.stringify({ tenant, jobs: [{ parameters: "{}" }] })}::text::json)`;
    const worker = await register(db);
    const [held] = await claim(db, worker, ["#plan:coded"]);
    const page = (from: number, n: number) =>
      worker_commands.plan_tasks(db, {
        worker_id: worker,
        claim_id: held!.claim_id,
        from,
        tasks: `[${Array.from({ length: n }, () => "{}").join()}]`,
      } as never);
    await page(0, 3);
    expect(await refusal(page(3, 1))).toMatchObject({ code: "beyond_limit", category: "permanent" });
  });

  test("limits are set one by one, lifted by null, and all that is wrong is told at once", async () => {
    const engine = await limited(db, { queued_tasks: 7 });
    const { tenant } = engine;
    // As callers have called it since before there were more limits than one.
    const reply = await one(db.sql<{ r: object }>`select app.set_limits(${tenant}::text, 3) as r`);
    expect(reply.r).toMatchObject({ tenant_id: tenant, concurrent_tasks: 3, queued_tasks: 7 });
    await db.sql`select app.set_limits(${tenant}::text, null, '{"fan_out": 9}')`;
    expect((await engine.limits.get()).limits).toEqual({
      concurrent_tasks: null,
      queued_tasks: 7,
      submits_per_s: null,
      submit_burst: null,
      fan_out: 9,
      submit_bytes: null,
      plan_bytes: null,
    });
    const wrong = { fan_out: 0, submit_bytes: "many", colour: 1, queued_tasks: 1.5 };
    const refused = await refusal(engine.limits.change(wrong as never));
    expect(refused.problems.map(({ path }) => path)).toEqual([
      "$.colour",
      "$.fan_out",
      "$.queued_tasks",
      "$.submit_bytes",
    ]);
    expect((await refusal(db.sql`select app.set_limits('nobody-here', 3)`)).code).toBe("not_found");
    const events = await db.sql`select kind from app.events where tenant_id = ${tenant} and kind = 'tenant.limited'`;
    expect(events).toHaveLength(3);
  });

  test("twenty submits at once never pass a limit together", async () => {
    const engine = await limited(second, { queued_tasks: 10, submits_per_s: 0.001, submit_burst: 12 });
    await engine.enqueue("t.race", {});
    const calls = Array.from({ length: 20 }, (_, i) => engine.enqueue("t.race", { i }));
    const settled = await Promise.allSettled(calls);
    expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(9);
    const codes = settled.flatMap((one) => (one.status === "rejected" ? [one.reason.code] : []));
    expect(new Set(codes)).toEqual(new Set(["over_limit"]));
    expect((await engine.limits.get()).usage.queued_tasks).toBe(10);
  });

  test("a submit waits for one of its tenant that has not committed, and counts it", async () => {
    const engine = await limited(second, { queued_tasks: 2 });
    // The first task of a type makes its standing stage, and would be waited for on that account.
    await engine.enqueue("t.held", {});
    let waiting: Promise<unknown> = Promise.resolve();
    await db.transaction(async (tx) => {
      await tx.sql`select app.enqueue('t.held', tenant => ${engine.tenant})`;
      waiting = refusal(engine.enqueue("t.held", {}));
      // It is there only once it waits for the row.
      for (let waits = false; !waits; ) {
        const rows = await second.sql`
          select from pg_stat_activity where wait_event_type = 'Lock' and query like '%enqueue_alike%' and pid <> pg_backend_pid()`;
        waits = rows.length > 0;
      }
    });
    expect(await waiting).toMatchObject({ code: "over_limit" });
  });

  test("what has been worked off makes room: after a refusal, and by the janitor", async () => {
    const engine = await limited(db, { queued_tasks: 2 });
    const stale = () =>
      db.sql`update app.tenant_usage set counted_at = now() - interval '10 seconds' where tenant_id = ${engine.tenant}`;
    const worker = await register(db);
    await engine.enqueueMany("t.room", lone(2));
    await finish(db, worker, await claim(db, worker, ["t.room"]));
    await stale();
    // The figure is of before; the refusal has it counted anew.
    expect((await refusal(engine.enqueueMany("t.room", lone(2)))).code).toBe("over_limit");
    await engine.enqueueMany("t.room", lone(2));
    await finish(db, worker, await claim(db, worker, ["t.room"]));
    await stale();
    await new Janitor({ db, log: createLog({ level: "silent" }) }).sweep({ thorough: true });
    await engine.enqueueMany("t.room", lone(2));
  });

  test("a tenant whose tasks are worked off as they come is never refused", async () => {
    const engine = await limited(db, { queued_tasks: 10 });
    const worker = await register(db);
    for (let i = 0; i < 40; i++) {
      await engine.enqueue("t.steady", { i });
      await finish(db, worker, await claim(db, worker, ["t.steady"]));
      // A second passes.
      await db.sql`update app.tenant_usage set counted_at = counted_at - interval '1 second' where tenant_id = ${engine.tenant}`;
    }
  });

  test("a full queue of single rows is not counted by each submit", async () => {
    const engine = await limited(db, { queued_tasks: 20_000 });
    const { tenant } = engine;
    const { stage_id } = await one(
      db.sql<{ stage_id: number }>`select app.standing_stage(${tenant}, 't.rows') as stage_id`,
    );
    await db.sql`insert into app.tasks (stage_id, ordinal, tenant_id) select ${stage_id}::bigint, o, ${tenant} from generate_series(0, 19999) o`;
    await db.sql`insert into app.ready (stage_id, lo, hi, tenant_id, task_type)
      select ${stage_id}::bigint, o, o + 1, ${tenant}, 't.rows' from generate_series(0, 19999) o`;
    await engine.limits.countAgain();
    await db.transaction(async (tx) => {
      const before = await readIn(tx);
      await tx.script("savepoint tried");
      await refusal(tx.sql`select app.enqueue('t.rows', tenant => ${tenant})`);
      await tx.script("rollback to savepoint tried");
      expect((await readIn(tx)) - before).toBeLessThan(100);
    });
  });

  async function readIn(tx: Pick<Database, "sql">): Promise<number> {
    const row = await one(tx.sql<{ n: number }>`
      select (pg_stat_get_xact_tuples_returned('app.ready'::regclass) + pg_stat_get_xact_tuples_returned('app.ready_order'::regclass))::int as n`);
    return row.n;
  }

  test("a tenant without limits touches no row of usage", async () => {
    await db.sql`select app.enqueue('t.free')`;
    expect(await db.sql`select from app.tenant_usage where tenant_id = 'default'`).toEqual([]);
  });
});
