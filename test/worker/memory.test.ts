// A worker never starts more isolated tasks than its memory allows, and nothing waits that need not.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import pino from "pino";
import { describe, expect, test } from "vitest";
import { defineHandler } from "../../src/core/declare/declare.js";
import { createRegistry } from "../../src/core/declare/registry.js";
import { newPace, recordPace } from "../../src/worker/claim/batch.js";
import { workerSettings } from "../../src/worker/options.js";
import { machineMemory } from "../../src/worker/run/machine_memory.js";
import { MemoryBudget } from "../../src/worker/run/memory.js";
import { isAlive, openIsolated } from "./isolation_shop.js";
import * as handlers from "./memory_handlers.js";
import { eventually } from "./shop.js";

const times = (count: number, parameters: Record<string, unknown>) =>
  Array.from({ length: count }, () => ({ parameters }));

test("isolated tasks overlap, and never more of them than fit; the rest is left for other workers", async () => {
  const shop = await openIsolated([handlers.large, handlers.beside]);
  const worker = await shop.start({ slots: 8, memory_mb: 1300, poll_s: 0.05, lease_s: 2 });
  const until = join(shop.storage_dir, "go-on");
  await shop.engine.enqueueMany("large", times(6, { until }));
  await eventually(() => worker.stats().memory_used_mb === 1200);
  const small = await shop.engine.enqueue("beside", {});
  expect(await shop.ended(small.task_id)).toMatchObject({ status: "completed" });
  // Two run; the others were not even claimed.
  const [row] = await shop.db.sql<{ held: number; ready: number }>`
    select (select sum(app.held_count(held))::int from app.claims) as held, (select sum(hi - lo)::int from app.ready) as ready`;
  expect(row).toEqual({ held: 2, ready: 4 });
  expect(worker.stats()).toMatchObject({ running: 2, queued: 0, memory_mb: 1300, memory_used_mb: 1200 });
  await eventually(async () => {
    const [seen] = await shop.db.sql`select memory_mb, memory_used_mb from app.workers`;
    return JSON.stringify(seen) === '{"memory_mb":1300,"memory_used_mb":1200}';
  });
  const other = await shop.start({ slots: 8, memory_mb: 1300, poll_s: 0.05 });
  await eventually(() => other.stats().memory_used_mb === 1200);
  writeFileSync(until, "");
  await eventually(() => worker.stats().completed + other.stats().completed === 7);
  expect(worker.stats()).toMatchObject({ memory_used_mb: 0, released: 0 });
});

test("a task that fits passes by one that waits for memory", async () => {
  const shop = await openIsolated([handlers.large, handlers.small]);
  const worker = await shop.start({ slots: 8, memory_mb: 800, poll_s: 0.05 });
  const until = join(shop.storage_dir, "go-on");
  await shop.engine.enqueueMany("small", times(2, { until }));
  await eventually(() => worker.stats().memory_used_mb === 400);
  const large = await shop.engine.enqueue("large", { until });
  const passing = await shop.engine.enqueue("small", {});
  expect(await shop.ended(passing.task_id)).toMatchObject({ status: "completed" });
  expect(await shop.engine.task(large.task_id)).toMatchObject({ status: "queued" });
  writeFileSync(until, "");
  expect(await shop.ended(large.task_id)).toMatchObject({ status: "completed" });
});

test("a large task starts although small ones keep coming", async () => {
  const shop = await openIsolated([handlers.large, handlers.small]);
  const worker = await shop.start({ slots: 8, memory_mb: 700, poll_s: 0.05 });
  await shop.engine.enqueueMany("small", times(20, { ms: 400 }));
  await eventually(() => worker.stats().memory_used_mb === 600);
  const large = await shop.engine.enqueue("large", {});
  await eventually(async () => {
    const [row] = await shop.db.sql<{ waiting: number }>`
      select coalesce(sum(hi - lo), 0)::int as waiting from app.ready where task_type = 'small'`;
    if (row!.waiting < 10) await shop.engine.enqueueMany("small", times(10, { ms: 400 }));
    return (await shop.engine.task(large.task_id)).status === "completed";
  });
});

test("many short isolated tasks are claimed ahead, and still only as many run as fit", async () => {
  const shop = await openIsolated([handlers.large]);
  const worker = await shop.start({ slots: 8, memory_mb: 1300, poll_s: 0.05 });
  const { task_ids } = await shop.engine.enqueueMany("large", times(60, {}));
  let most = 0;
  await eventually(() => {
    most = Math.max(most, worker.stats().memory_used_mb);
    return worker.stats().completed === task_ids.length;
  });
  expect(most).toBe(1200);
  expect(worker.stats().largest_batch).toBeGreaterThan(2);
});

test("a handler that needs more than the worker has is left to others, and why says so", async () => {
  const shop = await openIsolated([handlers.huge, handlers.beside]);
  const lines: string[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
  await shop.start({ memory_mb: 1300, log });
  expect(lines.filter((line) => line.includes("declare more memory_mb"))).toHaveLength(1);
  const { task_id } = await shop.engine.enqueue("huge", {});
  const why = await shop.engine.operate.why(task_id);
  expect(why).toMatchObject({
    code: "NO_WORKER_FOR_TYPE",
    evidence: { needed_mb: 100_000, most_memory_mb: 1300 },
    command: "fanfold up --memory 100000",
  });
  expect(why.reason).toContain("needs 100000 MB of memory");
  expect(await shop.engine.queries.workers()).toMatchObject([
    { memory_mb: 1300, types: expect.not.arrayContaining(["huge"]), too_large: { huge: 100_000 } },
  ]);
});

test("a killed process gives its memory back, also when its task was given up", async () => {
  const shop = await openIsolated([handlers.deaf_large]);
  const worker = await shop.start({ slots: 1, memory_mb: 700, abort_grace_s: 0.1 });
  await shop.engine.enqueue("deaf_large", {}, { max_attempts: 1 });
  await eventually(() => worker.stats().memory_used_mb === 600);
  await eventually(() => worker.stats().memory_used_mb === 0);
  expect(worker.stats()).toMatchObject({ timed_out: 1 });
});

test.each([
  { memory_mb: 660, stays: false },
  { memory_mb: 6600, stays: true },
])("a warm process gives way to a task that needs its memory ($memory_mb MB)", async ({ memory_mb, stays }) => {
  const shop = await openIsolated([handlers.tells_pid, handlers.tells_pid_too]);
  await shop.start({ slots: 2, memory_mb });
  const pidOf = async (type: string) => {
    const { task_id } = await shop.engine.enqueue(type, {});
    return (await shop.ended(task_id)).result as number;
  };
  const first = await pidOf("tells_pid");
  expect(isAlive(first)).toBe(true);
  await pidOf("tells_pid_too");
  if (!stays) await eventually(() => !isAlive(first));
  expect(isAlive(first)).toBe(stays);
});

describe("the budget", () => {
  const needs = new Map([
    ["small", 100],
    ["large", 600],
  ]);

  test("what others pass by for too long has its turn: no other isolated task starts or is claimed until it has", () => {
    const budget = new MemoryBudget(700, needs, 1000);
    budget.take("small");
    budget.take("small");
    expect(budget.mayStart("large", 0)).toBe(false);
    expect(budget.mayStart("small", 999)).toBe(true);
    expect(budget.mayStart("small", 1000)).toBe(false);
    expect(budget.mayStart("plain", 1000)).toBe(true);
    expect(budget.typesToClaim(["plain", "small", "large"], 1000)).toEqual(["plain", "large"]);
    // Three that were claimed before wait behind it.
    expect(budget.forClaim(new Map([["small", 3]]), new Map(), 999)?.room).toBe(200);
    expect(budget.forClaim(new Map([["small", 3]]), new Map(), 1000)?.room).toBe(500);
    budget.give("small", 1000);
    expect(budget.mayStart("small", 1000)).toBe(false);
    expect(budget.mayStart("large", 1000)).toBe(true);
    budget.take("large");
    expect(budget.mayStart("small", 1000)).toBe(false);
    budget.give("large", 2000);
    expect(budget.typesToClaim(["small", "large"], 2000)).toEqual(["small", "large"]);
  });

  test("a type of which tasks run is being served, however long others of it wait", () => {
    const budget = new MemoryBudget(750, needs, 1000);
    budget.take("large");
    budget.told(["small", "large"], new Set(), ["large"], 0);
    expect(budget.mayStart("small", 60_000)).toBe(true);
    budget.give("large", 60_000);
    expect(budget.mayStart("small", 60_000)).toBe(false);
    // Somebody else took what waited.
    budget.told(["large"], new Set(), [], 60_000);
    expect(budget.mayStart("small", 60_000)).toBe(true);
  });

  test("a claim asks for what can start now, and of short tasks for what can start within a second", () => {
    const budget = new MemoryBudget(1200, needs);
    budget.take("large");
    expect(budget.forClaim(new Map([["small", 2]]), new Map(), 0)).toEqual({
      room: 400,
      needs: { small: 100, large: 600 },
    });
    const pace = newPace();
    recordPace(pace, 100, 0);
    const short = budget.forClaim(new Map(), new Map([["large", pace]]), 0);
    expect(short).toEqual({ room: 1140, needs: { small: 100, large: 60 } });
    expect(new MemoryBudget(1200, new Map()).forClaim(new Map(), new Map(), 0)).toBeNull();
  });
});

describe("the memory there is", () => {
  const GB = 2 ** 30;
  const from = (files: Record<string, string>, total = 16 * GB) => machineMemory((path) => files[path] ?? null, total);

  test("is the machine's where no control group limits it", () => {
    expect(from({})).toBe(16_384);
    expect(from({ "/proc/self/cgroup": "0::/", "/sys/fs/cgroup/memory.max": "max" })).toBe(16_384);
    const none = String(2 ** 63);
    expect(from({ "/proc/self/cgroup": "4:memory:/", "/sys/fs/cgroup/memory/memory.limit_in_bytes": none })).toBe(
      16_384,
    );
  });

  test("is the smallest limit on the way up, of both kinds of control groups", () => {
    const group = { "/proc/self/cgroup": "0::/user.slice/app.service" };
    expect(from({ ...group, "/sys/fs/cgroup/user.slice/app.service/memory.max": `${2 * GB}` })).toBe(2048);
    const above = {
      "/sys/fs/cgroup/user.slice/memory.max": `${GB}`,
      "/sys/fs/cgroup/user.slice/app.service/memory.max": "max",
    };
    expect(from({ ...group, ...above })).toBe(1024);
    const v1 = { "/proc/self/cgroup": "5:cpu:/x\n4:memory,hugetlb:/docker/abc\n0::/" };
    // In a container the group's own folder is not to be seen, but mounted as the root.
    expect(from({ ...v1, "/sys/fs/cgroup/memory/memory.limit_in_bytes": `${3 * GB}` })).toBe(3072);
    expect(from({ ...v1, "/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": `${GB}` })).toBe(1024);
  });

  test("gives a worker three quarters of itself unless it is told otherwise, and a handler that declared nothing runs on any", () => {
    const registry = createRegistry({
      handlers: [handlers.undeclared, handlers.huge, defineHandler("plain", {}, () => {})],
    });
    expect(workerSettings({}, registry).memory_mb).toBe(Math.floor(machineMemory() * 0.75));
    const settings = workerSettings({ memory_mb: 500 }, registry);
    expect([...settings.memory_needs]).toEqual([["undeclared", 500]]);
    expect(settings.too_large).toEqual({ huge: 100_000 });
    expect(settings.types).toEqual(["undeclared", "plain", "#plan"]);
    expect(() => workerSettings({ memory_mb: 0 }, registry)).toThrow("memory_mb must be a whole number");
  });
});
