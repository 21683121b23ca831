// The words and figures of workers, queues and health, without a browser.
import { expect, test } from "vitest";
import { actionText, type Health, troubles, worstFirst } from "../../dashboard/src/pages/health/health_words.js";
import { deadShare, growth, type Sample, signsOf, type Vitals } from "../../dashboard/src/pages/health/vital_signs.js";
import {
  bridged,
  chartText,
  depthOf,
  isProblem,
  overOnly,
  type Queue,
  queueName,
  rateText,
} from "../../dashboard/src/pages/queues/queue_words.js";
import {
  farewell,
  type GoneWorker,
  inOrder,
  nameOf,
  progressText,
  stateOf,
  summary,
  typesOf,
  versionsOf,
  type Worker,
} from "../../dashboard/src/pages/workers/worker_words.js";

const at = "2030-01-01T00:00:00Z";
const worker = (given: Partial<Worker>): Worker => ({
  worker_id: "3f2a9c00-0000-4000-8000-000000000000",
  shared: true,
  status: "live",
  host: null,
  pid: null,
  version: "1.0.0",
  types: [],
  slots: 4,
  memory_mb: null,
  memory_used_mb: null,
  too_large: {},
  started_at: at,
  heartbeat_at: at,
  lease_ends_at: at,
  silent_s: null,
  lease_s: 30,
  draining_at: null,
  rss_mb: null,
  running: 0,
  held: 0,
  held_by_others: null,
  ...given,
});

test("workers that need a look come first, and a silent one counts for no slot", () => {
  const workers = [
    worker({ worker_id: "a", running: 3 }),
    worker({ worker_id: "b", draining_at: at, running: 1 }),
    worker({ worker_id: "c", status: "silent", draining_at: at, running: 4 }),
  ];
  expect(inOrder(workers).map(stateOf)).toEqual(["silent", "draining", "live"]);
  expect(summary(workers)).toBe("1 live worker · 1 draining · 1 silent · 4 of 8 slots at work");
});

test("a worker is called by its machine where that is told, and versions are counted", () => {
  expect(nameOf(worker({ host: "tile-7", pid: 42 }))).toBe("tile-7:42");
  expect(nameOf(worker({}))).toBe("shared worker 3f2a9c00");
  expect(versionsOf([worker({}), worker({}), worker({ version: null })])).toEqual([
    { version: "1.0.0", workers: 2 },
    { version: "unknown", workers: 1 },
  ]);
  expect(typesOf(["b.x", "#plan", "#plan:job", "a.y"])).toEqual({ handlers: ["a.y", "b.x"], plans: true });
});

test("what happened to a worker that is gone, and how far a task is, in words", () => {
  const gone = (given: Partial<GoneWorker>) => farewell({ status: "lost", went_back: 0, ...given } as GoneWorker);
  expect(gone({ went_back: 12 })).toBe("stopped answering; 12 tasks go to other workers");
  expect(gone({ went_back: 1 })).toBe("stopped answering; 1 task goes to other workers");
  expect(gone({ status: "stopped" })).toBe("left as told; it held nothing");
  expect([{ done: 3, total: 10, message: "tiles" }, { share: 0.5 }, null, { done: "x" }].map(progressText)).toEqual([
    "3 of 10, tiles",
    "50 %",
    null,
    null,
  ]);
});

const queue = (given: Partial<Queue>): Queue => ({
  task_type: "t.a",
  due: 0,
  later: 0,
  retrying: 0,
  running: 0,
  oldest_at: null,
  oldest_job_id: null,
  oldest_task_id: null,
  counted_at: at,
  paused: null,
  workers: 1,
  slots: 4,
  problem: null,
  per_minute: { completed: 0, failed: 0 },
  history: null,
  ...given,
});

test("what retries is taken out of what is due and what is later, so that the parts add up", () => {
  expect(depthOf(queue({ due: 5, later: 3, retrying: 4, running: 2 }))).toEqual({
    due: 4,
    retrying: 4,
    later: 0,
    running: 2,
  });
  expect(depthOf(queue({ due: 5, later: 9, retrying: 4 }))).toEqual({ due: 5, retrying: 4, later: 5, running: 0 });
});

test("a queue needs a look when nothing of it is taken, or its oldest task waits for long", () => {
  const now = Date.parse(at);
  expect(isProblem(queue({ oldest_at: new Date(now - 60_000).toISOString() }), now)).toBe(false);
  expect(isProblem(queue({ oldest_at: new Date(now - 3_600_000).toISOString() }), now)).toBe(true);
  expect(
    isProblem(
      queue({ problem: { code: "QUEUE_PAUSED", reason: "", action: { verb: "continue_type" }, command: "" } }),
      now,
    ),
  ).toBe(true);
});

test("a chart is told in words, with gaps bridged", () => {
  expect(chartText("Completed", [0, 1500, 3], 60)).toBe(
    "Completed in the last 3 minutes: 1,503, at most 1,500 in a minute",
  );
  expect(chartText("Failed", Array(120).fill(1), 720)).toBe(
    "Failed in the last 24 hours: 120, at most 1 in 12 minutes",
  );
  expect(chartText("Waiting", [null, 4, null, 2], 60)).toBe(
    "Waiting over the last 4 minutes: at most 4, 2 when last looked at",
  );
  expect(chartText("Waiting", [null, null], 60)).toBe("Waiting: not looked at in the last 2 minutes");
  expect([overOnly([3, 0, 1]), overOnly([0, 0, 1])]).toEqual([
    [3, 0],
    [0, 0, 1],
  ]);
  expect(bridged([null, 4, null, 2, null])).toEqual([4, 4, 4, 2, 2]);
  expect([0, 0.01, 3.14, 1234].map(rateText)).toEqual(["0", "< 0.1", "3.1", "1,234"]);
  expect([queueName("#plan"), queueName("#plan:mosaic"), queueName("t.a")]).toEqual([
    "Planning of stages",
    "Planning of mosaic",
    "t.a",
  ]);
});

const figures = {
  size_bytes: 1e9,
  connections: 10,
  locks_waiting: 0,
  oldest_xmin_age: 5,
  oldest_transaction_s: 1,
  commits: 1,
  rollbacks: 0,
  deadlocks: 2,
  dead_tuples: 10,
};
const sample = (given: Partial<Sample> = {}): Sample => ({
  ...figures,
  at,
  claimed: 0,
  slots: 4,
  workers: 1,
  ...given,
});
const vitals = (given: Partial<NonNullable<Vitals["database"]>>, history: Sample[] = [sample(), sample()]): Vitals =>
  ({
    database: { ...figures, kind: "server", connection_limit: 100, stats_visible: true, tables: [], ...given },
    history,
    claims_per_s: 12.34,
  }) as unknown as Vitals;
const levels = (of: Vitals) => Object.fromEntries(signsOf(of).map(({ id, level }) => [id, level]));

test("figures of the database turn from well to wrong where they say", () => {
  expect(new Set(Object.values(levels(vitals({}))))).toEqual(new Set(["ok"]));
  expect(signsOf(vitals({})).every(({ fix }) => fix === undefined)).toBe(true);
  expect(levels(vitals({ connections: 80 })).connections).toBe("warn");
  expect(levels(vitals({ connections: 95 })).connections).toBe("fail");
  expect(
    levels(vitals({ oldest_transaction_s: 300, oldest_xmin_age: 1e8, locks_waiting: 5, deadlocks: 3 })),
  ).toMatchObject({ transaction: "warn", xmin: "fail", locks: "warn", deadlocks: "warn" });
  const tables = [{ table: "ready", dead: 60_000, live: 40_000 }];
  const dead = signsOf(vitals({ tables })).find(({ id }) => id === "dead")!;
  expect(dead).toMatchObject({ level: "warn", fix: expect.stringContaining("vacuum app.ready") });
  expect(deadShare({ tables: [{ table: "small", dead: 100, live: 0 }] } as never)).toBeNull();
  expect(growth([5, 7, 7, 0, 3])).toEqual([2, 0, 0, 3]);
});

test("what is not as it should be is told with what to do, the worst check first", () => {
  const well: Health = {
    status: "ok",
    version: "1",
    database: { reachable: true },
    schema: { current: true },
    janitor: { age_s: 1, late: false },
    workers: { live: 2 },
  };
  expect(troubles(well)).toEqual([]);
  expect(
    troubles({ ...well, workers: { live: 0 }, janitor: { age_s: 400, late: true } }).map(({ fix }) => fix),
  ).toEqual([{ verb: "up" }, expect.stringContaining("start one")]);
  expect(troubles({ ...well, database: { reachable: false }, workers: { live: null } })).toHaveLength(1);
  const check = (level: "ok" | "warn" | "fail") => ({ name: level, level, message: "" });
  expect(worstFirst([check("ok"), check("fail"), check("warn")]).map(({ level }) => level)).toEqual([
    "fail",
    "warn",
    "ok",
  ]);
});

test("the janitor's deeds are sentences, also those of a later version", () => {
  expect(actionText({ action: "took_back", target: "worker 3f", data: { tasks: 12, stage: "cog" } })).toBe(
    "Took 12 tasks of stage cog back from worker 3f",
  );
  expect(actionText({ action: "took_back", target: "claim 9", data: {} })).toBe("Took tasks back from claim 9");
  expect(actionText({ action: "some_new_deed", target: null, data: {} })).toBe("Some new deed: something");
});
