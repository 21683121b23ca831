// What is said of jobs and tasks that have ended: how, by what rule, what is usable, and the command that goes on.
import { expect, test } from "vitest";
import { classify } from "../../src/core/errors/errors.js";
import { worker_commands } from "../../src/engine/work/commands.js";
import { bothDatabases } from "../postgres.js";
import { claim, drain, finish, one, register, submit } from "./floor.js";
import { beat, bound, idOf, silence } from "./past.js";

bothDatabases("why an ended job or task is as it is", (open) => {
  test("COMPLETED: nothing blocks, for the job and its task", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [{ name: "only", task: "t.only" }]);
    const worker = await register(db);
    const [task] = await drain(db, worker, ["t.only"]);
    expect(await why(job_id)).toMatchObject({
      status: "completed",
      code: "COMPLETED",
      since: expect.any(String),
      command: null,
    });
    expect(await why(idOf(task!))).toMatchObject({
      status: "completed",
      code: "COMPLETED",
      evidence: { attempt: 1 },
      command: null,
    });
  });

  test("UPSTREAM_FAILED: the failed stage, its importance and budget, and what is usable", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [
      { name: "first", task: "t.first", plan: { count: 3 } },
      { name: "wide", task: "t.wide", plan: { count: 10 }, failure_budget: { count: 1 } },
      { name: "last", task: "t.last" },
    ]);
    const worker = await register(db);
    await drain(db, worker, ["t.first", "t.wide"], ({ stage, ordinal }) =>
      stage === "wide" && ordinal < 2
        ? { category: "permanent", code: "no_source", message: "the source is gone" }
        : {},
    );
    await db.sql`update app.results set deliverables = '[{"name": "tiles", "count": 4}]' where ordinal = 9`;
    expect(await why(job_id)).toMatchObject({
      status: "failed",
      code: "UPSTREAM_FAILED",
      reason: expect.stringMatching(
        /stage "wide" \(critical\) has 2 of 10 tasks failed, and its budget forgives 1: the source is gone/,
      ),
      evidence: {
        stage: "wide",
        importance: "critical",
        failed: 2,
        total: 10,
        allowed: 1,
        error: { code: "no_source", task_id: expect.stringMatching(/^\d+-0$/) },
        skipped_stages: ["last"],
        usable: [
          { stage: "first", completed: 3 },
          { stage: "wide", completed: 8, total: 10 },
        ],
        deliverables: [{ name: "tiles", count: 4, usable: true }],
      },
      heals_at: null,
      command: `fanfold resume ${job_id.slice(0, 12)}`,
    });
  });

  test("UPSTREAM_FAILED: a job that succeeded in part names the stage within its budget", async () => {
    const db = await open();
    const { why } = bound(db);
    const stages = [{ name: "wide", task: "t.wide", plan: { count: 4 }, failure_budget: { count: 2 } }];
    const { job_id } = await submit(db, stages);
    const worker = await register(db);
    await drain(db, worker, ["t.wide"], ({ ordinal }) => (ordinal === 0 ? { category: "permanent" } : {}));
    expect(await why(job_id)).toMatchObject({
      status: "partial_success",
      code: "UPSTREAM_FAILED",
      evidence: { stage: "wide", status: "partial_success", failed: 1, allowed: 2, usable: [{ completed: 3 }] },
      command: `fanfold resume ${job_id.slice(0, 12)}`,
    });
  });

  test("UPSTREAM_FAILED: a rejected gate says who rejected it", async () => {
    const db = await open();
    const { why, operate } = bound(db);
    const { job_id } = await submit(db, [{ name: "publish", task: "t.p", gate: { message: "ok?" } }]);
    await operate.reject(job_id, { reason: "blurred", actor: "eve" });
    expect(await why(job_id)).toMatchObject({
      code: "UPSTREAM_FAILED",
      reason: expect.stringContaining("eve rejected it: blurred"),
    });
  });

  test("DEADLINE_PASSED: which deadline, and what is usable", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [{ name: "only", task: "t.only" }], {}, { options: { deadline_s: 60 } });
    await db.sql`update app.jobs set deadline_at = now() - interval '1 second'`;
    await db.sql`select app.expire_jobs()`;
    expect(await why(job_id)).toMatchObject({
      status: "failed",
      code: "DEADLINE_PASSED",
      evidence: { deadline_s: 60 },
      command: `fanfold resume ${job_id.slice(0, 12)}`,
    });
  });

  test("PAYLOAD_TOO_LARGE: a planning refused for size says how large and how large it may be", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [
      { name: "list", task: "t.list" },
      {
        name: "each",
        task: "t.each",
        parallelism: "fan_out",
        plan: { each: "$.items[*]", parameters: { text: "{text}" } },
      },
    ]);
    const worker = await register(db);
    await finish(db, worker, await claim(db, worker, ["t.list"]), () => ({
      result: { items: [{ text: "x".repeat(300_000) }] },
    }));
    const [plan] = await claim(db, worker, ["#plan"]);
    const planning = worker_commands.plan_stage(db, { worker_id: worker, claim_id: plan!.claim_id });
    // As a worker does it: what the database refused, it tells as the failure of the attempt.
    const failure = await planning.then(() => null, classify);
    await finish(db, worker, [plan!], () => failure!);
    expect(await why(job_id)).toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
      reason: expect.stringMatching(/stage "each" .*could not be planned: .*300\d+ bytes.*the limit is 262144/),
      evidence: { stage: "each", error: { code: "too_large", while: "planning" } },
      command: `fanfold resume ${job_id.slice(0, 12)}`,
    });
  });

  test("CANCELLED: by whom and why, for the job and for tasks that never ran", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [{ name: "only", task: "t.only", plan: { count: 2 } }]);
    await db.sql`select app.cancel_job(${job_id}, 'wrong folder', actor => 'ada')`;
    const { stage_id } = await one(
      db.sql<{ stage_id: number }>`select max(stage_id)::integer as stage_id from app.stages`,
    );
    const command = `fanfold resume ${job_id.slice(0, 12)}`;
    expect(await why(job_id)).toMatchObject({
      status: "cancelled",
      code: "CANCELLED",
      reason: expect.stringContaining("was cancelled by ada: wrong folder"),
      command,
    });
    expect(await why(`${stage_id}-1`)).toMatchObject({
      status: "cancelled",
      code: "CANCELLED",
      evidence: { message: "wrong folder" },
      command,
    });
  });

  test("CANCELLING: which handlers a live worker still names, and until when at most", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [{ name: "only", task: "t.only", plan: { count: 3 } }]);
    const worker = await register(db, ["t.only"], 30);
    const tasks = await claim(db, worker, ["t.only"], 2);
    await beat(db, worker, tasks);
    await db.sql`select app.cancel_job(${job_id}, 'enough')`;
    const reply = await why(job_id);
    expect(reply).toMatchObject({
      status: "cancelled",
      code: "CANCELLING",
      reason: expect.stringContaining("still running at the last heartbeat of their workers: 2"),
      evidence: {
        running: [{ task_id: idOf(tasks[0]!), stage: "only", worker_id: worker }, { task_id: idOf(tasks[1]!) }],
      },
      command: null,
    });
    const { at } = await one(db.sql<{ at: string }>`
      select to_json(heartbeat_at + interval '30 seconds') #>> '{}' as at from app.workers`);
    expect(Date.parse(reply.heals_at!)).toBe(Date.parse(at));
    // A heartbeat that no longer names them, or none for a whole lease, ends it.
    await silence(db, worker, 31);
    expect((await why(job_id)).code).toBe("CANCELLED");
    await beat(db, worker, tasks);
    expect((await why(job_id)).code).toBe("CANCELLING");
    await worker_commands.heartbeat(db, { worker_id: worker, running: [], claims: [] });
    expect((await why(job_id)).code).toBe("CANCELLED");
  });

  test("FAILED: attempts used and the last error; a task of an open job is retried when that has ended", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [{ name: "wide", task: "t.wide", plan: { count: 2 }, max_attempts: 1 }]);
    const worker = await register(db, ["t.wide"]);
    const tasks = await claim(db, worker, ["t.wide"]);
    await finish(db, worker, tasks.slice(0, 1), () => ({ category: "transient", code: "io", message: "no route" }));
    const failed = {
      status: "failed",
      code: "FAILED",
      reason: expect.stringContaining("failed at attempt 1 of 1: no route"),
      evidence: { attempt: 1, of: 1, error: { code: "io", category: "transient" } },
      since: expect.any(String),
    };
    expect(await why(idOf(tasks[0]!))).toMatchObject({
      ...failed,
      command: null,
      heals: expect.stringContaining("when its job has ended"),
    });
    await finish(db, worker, tasks.slice(1));
    expect(await why(idOf(tasks[0]!))).toMatchObject({ ...failed, command: `fanfold retry --task ${idOf(tasks[0]!)}` });
    expect((await why(job_id)).code).toBe("UPSTREAM_FAILED");
  });

  test("QUARANTINED_POISON: how often it crashed, with the signal; retry or skip", async () => {
    const db = await open();
    const { why } = bound(db);
    const { reply } = await one(
      db.sql<{ reply: { task_id: string } }>`select app.enqueue('t.poison', '{}', max_attempts => 10) as reply`,
    );
    const worker = await register(db, ["t.poison"]);
    for (let crash = 1; crash <= 3; crash++) {
      await db.sql`update app.ready set run_at = now()`;
      const tasks = await claim(db, worker, ["t.poison"]);
      const detail = { signal: "SIGKILL", stack: "secret place" };
      await finish(db, worker, tasks, () => ({
        category: "crash",
        code: "killed",
        message: "killed by SIGKILL",
        detail,
      }));
    }
    const answer = await why(reply.task_id);
    expect(answer).toMatchObject({
      status: "failed",
      code: "QUARANTINED_POISON",
      reason: expect.stringMatching(/ended in a crash: 3, .* came: 0: killed by SIGKILL$/),
      heals: expect.stringContaining(`fanfold skip ${reply.task_id}`),
      command: `fanfold retry --task ${reply.task_id}`,
    });
    expect(answer.evidence.crashes).toMatchObject(
      [1, 2, 3].map((attempt) => ({ attempt, detail: { signal: "SIGKILL" } })),
    );
    expect(JSON.stringify(answer)).not.toContain("secret place");
  });

  test("QUARANTINED_POISON: workers that fell silent are counted as lost, one by one", async () => {
    const db = await open();
    const { why } = bound(db);
    const { reply } = await one(db.sql<{ reply: { task_id: string } }>`select app.enqueue('t.poison', '{}') as reply`);
    const workers: string[] = [];
    for (let crash = 1; crash <= 3; crash++) {
      const worker = await register(db, ["t.poison"]);
      workers.push(worker);
      expect(await claim(db, worker, ["t.poison"])).toHaveLength(1);
      await silence(db, worker, 4000);
      await db.sql`select app.reap_workers()`;
    }
    const { reason, evidence } = await why(reply.task_id);
    expect(JSON.stringify({ reason, evidence })).not.toContain("died");
    expect(reason).toMatch(
      /ended in a crash: 0, that were cut off because no heartbeat of their worker came: 3: its worker stopped/,
    );
    expect(evidence.crashes).toMatchObject(
      workers.map((worker_id) => ({ worker_id, outcome: "lost", message: "its worker stopped sending heartbeats" })),
    );
  });

  test("RESULT_UNSTORABLE: the path that JSON cannot hold, as the worker said", async () => {
    const db = await open();
    const { why } = bound(db);
    const { reply } = await one(db.sql<{ reply: { task_id: string } }>`select app.enqueue('t.odd', '{}') as reply`);
    const worker = await register(db, ["t.odd"]);
    const problems = [{ path: "$.name", problem: "holds a NUL", fix: "remove it" }];
    const message = "The handler returned what JSON cannot hold: $.name holds a NUL";
    const failure = { category: "contract", code: "bad_result", message, detail: { problems } };
    await finish(db, worker, await claim(db, worker, ["t.odd"]), () => failure);
    expect(await why(reply.task_id)).toMatchObject({
      code: "RESULT_UNSTORABLE",
      reason: expect.stringContaining("$.name holds a NUL"),
      evidence: { problems },
      command: `fanfold retry --task ${reply.task_id}`,
    });
  });

  test("PAYLOAD_TOO_LARGE: a task refused for size says size and limit", async () => {
    const db = await open();
    const { why } = bound(db);
    const { reply } = await one(db.sql<{ reply: { task_id: string } }>`select app.enqueue('t.big', '{}') as reply`);
    const worker = await register(db, ["t.big"]);
    const failure = { category: "permanent", code: "too_large", message: "it has 300000 bytes; the limit is 262144" };
    await finish(db, worker, await claim(db, worker, ["t.big"]), () => failure);
    expect(await why(reply.task_id)).toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
      reason: expect.stringContaining("300000 bytes; the limit is 262144"),
    });
  });

  test("SKIPPED: by whom and why", async () => {
    const db = await open();
    const { why, operate } = bound(db);
    const { reply } = await one(db.sql<{ reply: { task_id: string } }>`select app.enqueue('t.odd', '{}') as reply`);
    await operate.skipTask(reply.task_id, { reason: "not needed", actor: "ada" });
    expect(await why(reply.task_id)).toMatchObject({
      status: "skipped",
      code: "SKIPPED",
      reason: expect.stringContaining("skipped by ada: not needed"),
      command: `fanfold retry --task ${reply.task_id}`,
    });
  });

  test("CANCELLED: a lone task, with its reason", async () => {
    const db = await open();
    const { why } = bound(db);
    const { reply } = await one(db.sql<{ reply: { task_id: string } }>`select app.enqueue('t.odd', '{}') as reply`);
    await db.sql`select app.cancel_task(${reply.task_id}, 'changed my mind')`;
    expect(await why(reply.task_id)).toMatchObject({
      status: "cancelled",
      code: "CANCELLED",
      reason: expect.stringContaining("changed my mind"),
    });
  });

  test("a late result that was refused is evidence beside what the task is now", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [{ name: "only", task: "t.only" }]);
    const zombie = await register(db, ["t.only"]);
    const late = await claim(db, zombie, ["t.only"]);
    await silence(db, zombie, 4000);
    await db.sql`select app.reap_workers()`;
    const heir = await register(db, ["t.only"]);
    const own = await claim(db, heir, ["t.only"]);
    expect((await finish(db, zombie, late)).accepted).toBe(0);
    expect(await why(idOf(own[0]!))).toMatchObject({
      code: "CLAIMED",
      evidence: { late_results: [{ worker_id: zombie }] },
    });
    await finish(db, heir, own);
    expect(await why(idOf(own[0]!))).toMatchObject({
      code: "COMPLETED",
      evidence: { worker_id: heir, late_results: [{ worker_id: zombie }] },
    });
    expect((await why(job_id)).code).toBe("COMPLETED");
  });
});
