// The worker protocol over HTTP, beyond what every worker needs: slots by type, a finish that takes the next tasks, what a worker says of itself,
// and the protocol as data.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { protocol_document } from "../../src/core/api/work/protocol.js";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { openService, type TestService } from "./service.js";

let service: TestService;
beforeAll(async () => {
  service = await openService({
    jobs: [
      defineJob({
        type: "by_code",
        stages: [
          { name: "each", task: "p.a", tasks: () => [] },
          { name: "asked", task: "p.b", when: () => true, tasks: { count: 2 } },
          { name: "skipped", task: "p.c", when: () => false, importance: "optional" },
        ],
      }),
    ],
    handlers: ["p.a", "p.b", "p.c"].map((name) => defineHandler(name, {}, () => null)),
  });
});
afterAll(() => service.close());

async function registered(tenant: string, body: Record<string, unknown>) {
  const key = await service.key(tenant);
  const told = await service.call("POST", "/api/workers/register", { key, body });
  expect(told.status).toBe(201);
  const { worker_id } = told.body as { worker_id: string };
  const say = async (verb: string, given: unknown = undefined, status = 200) => {
    const answer = await service.call("POST", `/api/workers/${worker_id}/${verb}`, { key, body: given });
    expect([answer.status, answer.body]).toEqual([status, expect.anything()]);
    return answer.body;
  };
  const get = (path: string) => service.call("GET", `/api/workers/${worker_id}/${path}`, { key });
  return { worker_id, key, say, get, engine: service.engine.forTenant(tenant), told: told.body };
}

const ends = (tasks: { task_id: string; claim_id: number; attempt: number }[], result: unknown = null) =>
  tasks.map(({ task_id, claim_id, attempt }) => ({ task_id, claim_id, attempt, result }));

describe("a claim over HTTP", () => {
  test("takes no more of a type than the worker has slots for, and no more of all than its limit", async () => {
    const { say, engine, worker_id } = await registered("slots", { types: ["p.a", "p.b", "p.c"] });
    for (const type of ["p.a", "p.b", "p.c"])
      await engine.enqueueMany(
        type,
        Array.from({ length: 6 }, (_, n) => ({ parameters: { n } })),
      );
    const claimed = async (body: object) => {
      const { tasks, stages } = await say("claim", body);
      const types = new Map(
        stages.map((one: { stage_id: number; task_type: string }) => [one.stage_id, one.task_type]),
      );
      const counts: Record<string, number> = {};
      for (const { stage_id } of tasks) {
        const type = types.get(stage_id) as string;
        counts[type] = (counts[type] ?? 0) + 1;
      }
      return counts;
    };
    expect(await claimed({ limit: 5, per_type: { "p.a": 2, "p.b": 0 } })).toEqual({ "p.a": 2, "p.c": 3 });
    expect(await claimed({ limit: 100, per_type: { "p.a": 1, "p.b": 2, "p.c": 1, "p.unknown": 7 } })).toEqual({
      "p.a": 1,
      "p.b": 2,
      "p.c": 1,
    });
    expect(await claimed({ limit: 100 })).toEqual({ "p.a": 3, "p.b": 4, "p.c": 2 });
    const [row] = await service.db.sql<{ n: number }>`
      select sum(app.held_count(held))::integer as n from app.claims where worker_id = ${worker_id}::text::uuid`;
    expect(row?.n).toBe(18);
  });

  test("comes with a finish, after it, and never waits", async () => {
    const { say, engine } = await registered("next", { types: ["p.a"] });
    await engine.enqueueMany(
      "p.a",
      Array.from({ length: 5 }, (_, n) => ({ parameters: { n } })),
    );
    const first = await say("claim", { limit: 2 });
    const known_stages = first.stages.map(({ stage_id }: { stage_id: number }) => stage_id);
    const next = await say("finish", { tasks: ends(first.tasks), claim: { limit: 2, known_stages } });
    expect(next).toMatchObject({ accepted: 2, refused: [], claim: { tasks: [{}, {}], stages: [] } });
    const last = await say("finish", { tasks: ends(next.claim.tasks), claim: { limit: 9, known_stages } });
    expect(last.claim.tasks).toHaveLength(1);
    expect((await say("finish", { tasks: ends(last.claim.tasks), claim: { limit: 9 } })).claim).toEqual({
      tasks: [],
      stages: [],
    });
    // Sent again, because the answer was lost, without the claim.
    expect(await say("finish", { tasks: ends(last.claim.tasks) })).toMatchObject({ accepted: 1, claim: null });
  });
});

describe("what a worker says of itself", () => {
  test("its memory and its counts are kept, and what this version does not know is ignored", async () => {
    const { say, worker_id, told } = await registered("says", {
      types: ["p.a"],
      memory_mb: 4096,
      too_large: { "p.huge": 9000 },
      colour: "green",
    });
    expect(told).toMatchObject({ protocol: 1, lease_s: 30, heartbeat_s: 10 });
    const durations = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];
    const counts = { claimed: 4, completed: 3, duration_s: 1.5, failed: { permanent: 1 }, durations };
    const beat = { claims: [], rss_mb: 100, memory_used_mb: 512, counts: { "p.a": counts }, mood: "good" };
    await say("heartbeat", beat);
    const [row] = await service.db.sql`
      select memory_mb, memory_used_mb, rss_mb, too_large from app.workers where worker_id = ${worker_id}::text::uuid`;
    expect(row).toEqual({ memory_mb: 4096, memory_used_mb: 512, rss_mb: 100, too_large: { "p.huge": 9000 } });
    const [kept] = await service.db.sql<{ counts: number[] }>`
      select counts from app.work_counts where worker_id = ${worker_id}::text::uuid and task_type = 'p.a'`;
    expect(kept?.counts.slice(0, 4)).toEqual([4, 3, 0, 1.5]);
    expect(kept?.counts.slice(4, 9)).toEqual([0, 0, 1, 0, 0]);
    expect(kept?.counts.slice(14)).toEqual(durations);
    expect((await say("claim", { limit: 1, kindly: true })).tasks).toEqual([]);
  });

  test("a worker that could do nothing is told so", async () => {
    const key = await service.key("says");
    const { status, body } = await service.call("POST", "/api/workers/register", { key, body: { types: [] } });
    expect([status, body.problems?.[0]?.path]).toEqual([400, "body.types"]);
  });
});

describe("a stage that is planned by code", () => {
  const types = ["p.a", "p.b", "p.c"];

  test("is planned page by page by a worker that has the code, and by no other", async () => {
    const { say, engine } = await registered("plans", { types, plans: ["by_code"] });
    const other = await registered("plans", { types });
    const { job_id } = await engine.submit("by_code", {});
    expect((await other.say("claim", { limit: 5 })).tasks).toEqual([]);
    const { tasks, stages } = await say("claim", { limit: 5 });
    const [plan] = tasks;
    expect(plan).toMatchObject({ kind: "plan", ordinal: -1, task_id: `${plan.stage_id}-plan` });
    expect(stages).toMatchObject([{ planner: "function", job_type: "by_code", stage: "each" }]);
    const held = { task_id: plan.task_id, claim_id: plan.claim_id };
    const running = [{ ...held, elapsed_s: 1 }];
    expect(await say("heartbeat", { claims: [plan.claim_id], running })).toEqual({ lost: [], abort: [] });

    const bad = [{ index: "a", colour: 1 }, { parameters: [] }, { bbox: [1] }];
    const { problems } = await say("plan", { ...held, from: 0, tasks: bad }, 400);
    expect(problems.map(({ path }: { path: string }) => path)).toEqual([
      "body.tasks[0].colour",
      "body.tasks[1].parameters",
      "body.tasks[2].bbox",
    ]);
    const page = (from: number) => ({
      ...held,
      from,
      tasks: [0, 1].map((n) => ({ index: `t${from + n}`, parameters: { n: from + n } })),
    });
    expect(await say("plan", page(0))).toEqual({ inserted: 2 });
    expect(await say("plan", page(2))).toEqual({ inserted: 2 });
    // Its answer was lost.
    expect(await say("plan", page(2))).toEqual({ inserted: 2 });
    await say("plan/done", { ...held, total: 4, skip: true }, 400);
    expect(await say("plan/done", { ...held, total: 4 })).toEqual({ total: 4 });
    expect(await say("plan/done", { ...held, total: 4 }, 409)).toMatchObject({ code: "not_allowed_now" });
    const made = await say("claim", { limit: 10 });
    expect(made.tasks.map(({ index, parameters }: never) => [index, parameters])).toEqual(
      [0, 1, 2, 3].map((n) => [`t${n}`, { n }]),
    );

    // The next has a condition of code and a plan of data; the last a condition that does not hold.
    const asked = await say("finish", { tasks: ends(made.tasks), claim: { limit: 5 } });
    const [second] = asked.claim.tasks;
    expect(second.kind).toBe("plan");
    expect(await say("plan/done", { task_id: second.task_id, claim_id: second.claim_id, by_data: true })).toEqual({
      total: 2,
    });
    const counted = await say("claim", { limit: 5 });
    const last = await say("finish", { tasks: ends(counted.tasks), claim: { limit: 5 } });
    const [third] = last.claim.tasks;
    await say("plan/done", { task_id: third.task_id, claim_id: third.claim_id, skip: true });
    expect(await engine.status(job_id)).toMatchObject({ status: expect.stringMatching(/completed|partial_success/) });
  });

  test("fails as a task does when its planner fails", async () => {
    const { say, engine } = await registered("fails", { types, plans: ["by_code"] });
    const { job_id } = await engine.submit("by_code", { n: 1 });
    const [plan] = (await say("claim", { limit: 1 })).tasks;
    const { task_id, claim_id, attempt } = plan;
    const error = { message: "no such catalogue", code: "no_catalogue", category: "permanent" };
    expect(await say("finish", { tasks: [{ task_id, claim_id, attempt, error }] })).toMatchObject({ accepted: 1 });
    expect(await engine.status(job_id)).toMatchObject({ status: "failed" });
    expect(await say("plan", { task_id, claim_id, from: 0, tasks: [] }, 409)).toMatchObject({
      code: "not_allowed_now",
    });
  });
});

test("protocol.json is what the code goes by, for anybody to read", async () => {
  const { status, body } = await service.call("GET", "/api/work/protocol.json", { key: null });
  expect(status).toBe(200);
  expect(body).toEqual(JSON.parse(JSON.stringify(protocol_document)));
  expect(body.limits).toMatchObject({ result_bytes: 1_048_576, finish_tasks: 1000 });
  expect(body.errors.stale_worker).toEqual({ http_status: 409, category: "transient" });
  expect(body.category_rules.http_status.throttled).toEqual([429]);
});
