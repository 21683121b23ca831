// A worker that has nothing but an address and a key runs the same handlers, on the real service.
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { declareEffect } from "../../src/client/effects.js";
import { startRemoteWorker } from "../../src/client/worker.js";
import type { RemoteWorkerOptions } from "../../src/client/worker_options.js";
import { defineHandler, defineJob, type Handler } from "../../src/core/declare/declare.js";
import { Permanent } from "../../src/core/errors/errors.js";
import { openService, type TestService } from "../server/service.js";

const fan = {
  parallelism: "fan_out",
  tasks: { each: "$.items[*]", index: "{name}", parameters: { name: "{name}" } },
} as const;
let service: TestService;
let scratch = "";
const held = latch();

const handlers: Handler[] = [
  defineHandler("r.list", {}, async (_, ctx) => {
    ctx.log.info("listing", { stage: ctx.stage });
    ctx.progress(0.5, "half");
    return { items: ["ada", "bo", "cy"].map((name) => ({ name })) };
  }),
  defineHandler("r.each", {}, async ({ name }, ctx) => {
    scratch = await ctx.scratch();
    await writeFile(join(scratch, "x"), name);
    ctx.deliver({ name: "greetings" });
    ctx.next_stage_params({ from: ctx.index });
    return { hello: name, tenant: ctx.tenant_id, job: ctx.job?.job_type };
  }),
  defineHandler("r.match", {}, async (_, ctx) => (await ctx.predecessor())?.result),
  defineHandler("r.fold", {}, async (_, ctx) => {
    const all: string[] = [];
    for await (const { result, next_stage_params } of ctx.previous("each"))
      all.push(`${result.hello}/${next_stage_params.from}`);
    return { all, matched: (await ctx.previous("match").all()).length, key: ctx.effect_key.length };
  }),
  defineHandler("r.publish", {}, async ({ zone = "silver" }, ctx) => {
    const dir = await ctx.scratch();
    const from = join(dir, "in.bin");
    const { bytes } = await ctx.zones.download({ zone: "bronze", key: "in.bin" }, from);
    const asset = await ctx.zones.publish(from, { zone, prefix: "made", name: "out.bin", media_type: "x/y" });
    const part = await ctx.zones.read({ zone: "bronze", key: "in.bin" }, 1, 3);
    declareEffect(ctx, { effect: "enqueue", task_type: "r.odd", tasks: [{ parameters: {} }] });
    return { bytes, key: asset.key, part: [...part], listed: (await ctx.zones.list("bronze", "")).entries.length };
  }),
  defineHandler("r.count", {}, async (_, ctx) => ({ letters: (await ctx.previous.all())[0].length })),
  defineHandler("r.db", {}, (_, ctx) => ctx.db(async (session) => session.sql`select 1`)),
  defineHandler("r.large", {}, () => "x".repeat(9_000_000)),
  defineHandler("r.odd", {}, () => ({ at: Number.NaN })),
  defineHandler(
    "r.slow",
    { timeout_s: 1 },
    (_, ctx) =>
      new Promise((_resolve, reject) => {
        ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason));
      }),
  ),
  defineHandler("r.hold", {}, async (_, ctx) => {
    held.go();
    await new Promise<void>((resolve) => ctx.signal.addEventListener("abort", () => resolve()));
    throw new Permanent("asked to stop");
  }),
];

const planned = defineJob({
  type: "planned",
  stages: [
    { name: "large", task: "r.large" },
    { name: "count", task: "r.count", parallelism: "fan_in" },
    {
      name: "each",
      task: "r.match",
      parallelism: "fan_out",
      async *tasks({ previous }) {
        const { letters } = (await previous.one()) as { letters: number };
        for (let n = 0; n < letters / 1_000_000; n++) yield { index: `n${n}`, parameters: { n } };
      },
    },
    { name: "never", task: "r.odd", when: () => false },
  ],
});

function latch() {
  let go: () => void = () => {};
  const started = new Promise<void>((resolve) => {
    go = resolve;
  });
  return { go: () => go(), started };
}

beforeAll(async () => {
  service = await openService({
    jobs: [
      defineJob({
        type: "remote",
        stages: [
          { name: "list", task: "r.list" },
          { name: "each", task: "r.each", ...fan },
          { name: "match", task: "r.match", parallelism: "match_previous" },
          { name: "fold", task: "r.fold", parallelism: "fan_in", after: ["each", "match"], of: "match" },
        ],
      }),
      planned,
    ],
    handlers,
  });
});
afterAll(() => service.close());

async function begin(tenant: string, more: Partial<RemoteWorkerOptions> = {}) {
  const key = await service.key(tenant, ["work"]);
  const worker = await startRemoteWorker({ url: service.url, key, handlers, slots: 4, ...more });
  onTestFinished(() => worker.kill());
  return worker;
}

async function ended(tenant: string, task_id: string) {
  const engine = service.engine.forTenant(tenant);
  for (;;) {
    const task = await engine.task(task_id);
    if (task.status === "completed" || task.status === "failed") return task;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("it runs a whole job: reads what came before, hands over, delivers, logs, and leaves in peace", async () => {
  const worker = await begin("one");
  const engine = service.engine.forTenant("one");
  const { job_id } = await engine.submit("remote", {});
  const job = await engine.wait(job_id);
  expect(job).toMatchObject({
    status: "completed",
    result: { all: ["ada/ada", "bo/bo", "cy/cy"], matched: 3, key: 64 },
    deliverables: [{ name: "greetings", count: 3 }],
  });
  const { tasks } = await engine.tasks({ job_id, stage: "list" });
  expect((await engine.task(tasks[0]?.task_id ?? "")).logs.map(({ message }) => message)).toEqual(["listing"]);
  const each = await engine.tasks({ job_id, stage: "each" });
  expect((await engine.task(each.tasks[0]?.task_id ?? "")).result).toMatchObject({ tenant: "one", job: "remote" });
  await worker.stop();
  expect(worker.stats()).toMatchObject({ completed: 8, failed: 0, refused: 0, registered: 1 });
  expect(scratch).not.toBe("");
  expect(existsSync(scratch)).toBe(false);
  const [row] = await service.db.sql`select status from app.workers where worker_id = ${worker.worker_id}::text::uuid`;
  expect(row).toEqual({ status: "stopped" });
});

test("what is not to be had without a database, cannot be stored or takes too long fails that task, in words", async () => {
  await begin("two");
  const engine = service.engine.forTenant("two");
  const once = { max_attempts: 1 };
  const ids = await Promise.all(["r.db", "r.odd", "r.slow"].map((type) => engine.enqueue(type, {}, once)));
  const [db, odd, slow] = await Promise.all(ids.map(({ task_id }) => ended("two", task_id)));
  expect(db?.error).toMatchObject({ code: "no_database", category: "permanent" });
  expect(odd?.error).toMatchObject({ code: "bad_result", category: "contract" });
  expect(slow?.error).toMatchObject({ code: "timeout", category: "transient" });
});

test("it publishes files, spills large results, runs planners and declares effects, and counts what it does", async () => {
  const worker = await begin("files", { jobs: [planned], lease_s: 5, slots_by_type: { "r.match": 2 } });
  const engine = service.engine.forTenant("files");
  async function* pieces() {
    yield randomBytes(9_000_000);
  }
  await engine.zones.store("bronze", "files").write("in.bin", pieces());
  const { task_id } = await engine.enqueue("r.publish", {});
  const made = await ended("files", task_id);
  expect(made).toMatchObject({ status: "completed", result: { bytes: 9_000_000, listed: 1 } });
  const { key } = made.result as { key: string };
  expect(await engine.assets.find({ zone: "silver", key })).toMatchObject({ bytes: 9_000_000, task_id });
  const { job_id } = await engine.submit("planned", {});
  const job = await engine.wait(job_id);
  expect(job.status).toMatch(/completed|partial_success/);
  expect((await engine.tasks({ job_id, stage: "each" })).tasks).toHaveLength(9);
  const odd = await service.db.sql`select 1 from app.stages where task_type = 'r.odd' and tenant_id = 'files'`;
  expect(odd.length).toBeGreaterThan(0);
  for (let counted = 0; counted < 9; ) {
    const [row] = await service.db.sql<{ n: number }>`
      select coalesce(max(counts[2]), 0)::integer as n from app.work_counts
       where worker_id = ${worker.worker_id}::text::uuid and task_type = 'r.match'`;
    counted = row?.n ?? 0;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await worker.stop();
});

test("a stopped worker hands back what does not end, and the next one runs it; a worker declared lost registers anew", async () => {
  const engine = service.engine.forTenant("three");
  const worker = await begin("three", { grace_s: 0, abort_grace_s: 5 });
  const { task_id } = await engine.enqueue("r.hold", {});
  await held.started;
  await worker.stop();
  expect(await engine.task(task_id)).toMatchObject({ status: "queued", attempt: 1 });
  const quick = defineHandler("r.hold", {}, () => ({ ok: true }));
  const next = await begin("three", { handlers: [quick], lease_s: 5, wait_s: 1 });
  expect(await ended("three", task_id)).toMatchObject({ status: "completed", result: { ok: true } });
  const first = next.worker_id;
  await service.db.sql`update app.workers set status = 'lost', ended_at = now() where worker_id = ${first}::text::uuid`;
  const again = await engine.enqueue("r.hold", {});
  expect(await ended("three", again.task_id)).toMatchObject({ status: "completed" });
  expect(next.worker_id).not.toBe(first);
});

test("a cancelled task is aborted with the next heartbeat, and nothing is told of it", async () => {
  const engine = service.engine.forTenant("four");
  let aborted: (why: string) => void = () => {};
  const told = new Promise<string>((resolve) => {
    aborted = resolve;
  });
  const begun = latch();
  const waits = defineHandler("r.hold", {}, async (_, ctx) => {
    begun.go();
    await new Promise<void>((resolve) => ctx.signal.addEventListener("abort", () => resolve()));
    aborted(String(ctx.signal.reason));
    return { late: true };
  });
  const worker = await begin("four", { handlers: [waits], lease_s: 5 });
  const { task_id } = await engine.enqueue("r.hold", {});
  await begun.started;
  await engine.cancelTask(task_id);
  expect(await told).toMatch(/cancelled|given to others/);
  await worker.stop();
  expect(worker.stats()).toMatchObject({ completed: 0, dropped: 1 });
  expect((await engine.task(task_id)).status).toBe("cancelled");
});

test("a wrong key and a wrong scope are refused at the start", async () => {
  const key = await service.key("one", ["read"]);
  const start = (more: Partial<RemoteWorkerOptions>) => startRemoteWorker({ url: service.url, key, handlers, ...more });
  await expect(start({})).rejects.toMatchObject({ http_status: 403 });
  await expect(start({ key: `${key.slice(0, -3)}abc` })).rejects.toMatchObject({ http_status: 401 });
});
