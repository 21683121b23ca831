// Skip, pause, gates, fail-fast and limits: what an operator does to a job that is open.
import { expect, test } from "vitest";
import type { Store } from "../../src/core/places/store.js";
import type { Database } from "../../src/engine/database/database.js";
import { Operator } from "../../src/engine/verbs/operator.js";
import { worker_commands } from "../../src/engine/work/commands.js";
import { bothDatabases } from "../postgres.js";
import {
  claim,
  drain,
  expectSound,
  type Fate,
  finish,
  type Held,
  register,
  status,
  statuses,
  submit,
} from "./floor.js";

const fails = (): Fate => ({ category: "permanent", code: "boom" });
const types = ["t.make", "t.next", "t.end"];

bothDatabases("operating", (open) => {
  async function floor() {
    const db = (await open()) as Database;
    const worker = await register(db, [], 3600);
    const operate = new Operator(db, "default", {} as Store);
    const run = (fate?: (task: Held) => Fate) => drain(db, worker, types, fate);
    const taskId = async (job_id: string, ordinal: number) => {
      const [row] = await db.sql<{ id: string }>`
        select min(stage_id) || '-' || ${ordinal}::int as id from app.stages where job_id = ${job_id}`;
      return row!.id;
    };
    const events = async (kind: string) => (await db.sql`select 1 from app.events where kind = ${kind}`).length;
    return { db, worker, operate, run, taskId, events };
  }

  test("a waiting task, a running one and a failed one are skipped for a reason, once", async () => {
    const { db, worker, operate, run, taskId, events } = await floor();
    const { job_id } = await submit(db, [
      { name: "make", task: "t.make", plan: { count: 4 } },
      { name: "end", task: "t.end", parallelism: "fan_in" },
    ]);
    const held = await claim(db, worker, types, 2);
    await finish(db, worker, held.slice(0, 1), fails);
    const [failed, running, waiting] = await Promise.all([0, 1, 3].map((ordinal) => taskId(job_id, ordinal)));
    expect(await operate.skipTask(waiting!, { reason: "not wanted", dry_run: true })).toMatchObject({
      changed: false,
      status: "queued",
    });
    await expect(operate.skipTask(waiting!, { reason: " " })).rejects.toMatchObject({ code: "bad_request" });
    for (const id of [failed, running, waiting]) {
      expect(await operate.skipTask(id!, { reason: "not wanted", actor: "ada" })).toMatchObject({
        changed: true,
        status: "skipped",
      });
      expect(await operate.skipTask(id!, { reason: "not wanted" })).toMatchObject({ changed: false });
    }
    await expectSound(db);
    expect(await finish(db, worker, held.slice(1))).toMatchObject({
      accepted: 0,
      refused: [[held[1]!.claim_id, 1, "not_held"]],
    });
    await run();
    expect(await statuses(db, job_id)).toEqual(["completed", "completed", "completed"]);
    expect((await status(db, job_id)).stage("make")).toMatchObject({ completed: 1, failed: 0, skipped: 3 });
    expect(await events("task.skipped")).toBe(3);
    await expectSound(db);
  });

  test("skipping the last waiting task closes the stage; a failed one of an ended job is skipped and resume goes on", async () => {
    const { db, worker, operate, run, taskId } = await floor();
    const stages = [
      { name: "make", task: "t.make", plan: { count: 2 } },
      { name: "end", task: "t.end", parallelism: "fan_in" },
    ];
    const first = await submit(db, stages, { n: 1 });
    await finish(db, worker, await claim(db, worker, types, 1));
    await operate.skipTask(await taskId(first.job_id, 1), { reason: "gone" });
    expect((await status(db, first.job_id)).stage("make").status).toBe("completed");
    const second = await submit(db, stages, { n: 2 });
    await run(({ ordinal, stage }) => (stage === "make" && ordinal === 1 ? fails() : {}));
    expect(await statuses(db, second.job_id)).toEqual(["failed", "failed", "cancelled"]);
    await operate.skipTask(await taskId(second.job_id, 1), { reason: "the source is gone for good" });
    expect((await status(db, second.job_id)).status).toBe("failed");
    await operate.resume(second.job_id);
    expect((await run()).map(({ stage }) => stage)).toEqual(["end"]);
    expect((await status(db, second.job_id)).status).toBe("completed");
    await expectSound(db);
  });

  test("nothing of a paused job is claimed, not even what opens meanwhile, until it is continued", async () => {
    const { db, worker, operate, run, events } = await floor();
    const { job_id } = await submit(db, [
      { name: "make", task: "t.make", plan: { count: 3 } },
      { name: "end", task: "t.end", parallelism: "fan_in" },
    ]);
    const held = await claim(db, worker, types, 1);
    expect(await operate.pause(job_id, { dry_run: true })).toMatchObject({ changed: false, queued: 2 });
    expect(await operate.pause(job_id, { reason: "storage is down", actor: "ada" })).toMatchObject({
      changed: true,
      paused: true,
    });
    expect(await operate.pause(job_id)).toMatchObject({ changed: false, paused: true });
    expect(await status(db, job_id)).toMatchObject({
      paused_by: "ada",
      pause_reason: "storage is down",
      deadline_at: null,
    });
    expect(await claim(db, worker, types)).toEqual([]);
    await finish(db, worker, held, () => ({ category: "throttled", retry_after_s: 0 }));
    expect(await claim(db, worker, types)).toEqual([]);
    expect((await status(db, job_id)).stage("make")).toMatchObject({ queued: 3 });
    await expectSound(db);
    expect(await operate.continue(job_id)).toMatchObject({ changed: true, paused: false });
    expect(await operate.continue(job_id)).toMatchObject({ changed: false });
    expect((await status(db, job_id)) as object).toMatchObject({ deadline_at: expect.any(String), paused_at: null });
    expect((await run()).length).toBe(4);
    expect([await events("job.paused"), await events("job.continued")]).toEqual([1, 1]);
    await expectSound(db);
  });

  test("a stage that opens while its job is paused waits too", async () => {
    const { db, worker, operate, run } = await floor();
    const { job_id } = await submit(db, [
      { name: "make", task: "t.make" },
      { name: "end", task: "t.end" },
    ]);
    const held = await claim(db, worker, types);
    await operate.pause(job_id);
    await finish(db, worker, held);
    expect(await claim(db, worker, types)).toEqual([]);
    await operate.continue(job_id);
    await run();
    expect((await status(db, job_id)).status).toBe("completed");
  });

  test("a paused task type is passed over, others run", async () => {
    const { db, worker, operate } = await floor();
    await submit(db, [{ name: "make", task: "t.make", plan: { count: 2 } }]);
    await submit(db, [{ name: "other", task: "t.next" }], {}, { type: "other" });
    expect(await operate.pauseType("t.make", { dry_run: true })).toMatchObject({ changed: false, queued: 2 });
    expect(await operate.pauseType("t.make", { reason: "bad release" })).toMatchObject({ changed: true });
    expect(await operate.pauseType("t.make")).toMatchObject({ changed: false });
    expect((await claim(db, worker, types)).map(({ stage }) => stage)).toEqual(["other"]);
    expect(await operate.continueType("t.make")).toMatchObject({ changed: true, queued: 2 });
    expect((await claim(db, worker, types)).length).toBe(2);
    await expect(operate.pauseType("No Type")).rejects.toMatchObject({ code: "bad_request" });
  });

  test("a gate waits for a person, stops the deadline, and says who approved and why", async () => {
    const { db, operate, run, events } = await floor();
    const { job_id } = await submit(db, [
      { name: "make", task: "t.make" },
      { name: "end", task: "t.end", gate: { message: "Publish?" } },
    ]);
    await run();
    expect(await statuses(db, job_id)).toEqual(["processing", "completed", "waiting_approval"]);
    expect((await status(db, job_id)) as object).toMatchObject({ deadline_at: null });
    expect(await operate.approve(job_id, { dry_run: true })).toMatchObject({ changed: false, stage: "end" });
    expect(await operate.approve(job_id, { actor: "ada", reason: "looks good" })).toMatchObject({
      changed: true,
      decision: { approved: true, by: "ada", why: "looks good" },
    });
    expect(await operate.approve(job_id, { stage: "end" })).toMatchObject({ changed: false, decision: { by: "ada" } });
    await expect(operate.reject(job_id, { stage: "end", reason: "no" })).rejects.toMatchObject({
      code: "not_allowed_now",
    });
    expect((await status(db, job_id)) as object).toMatchObject({ deadline_at: expect.any(String) });
    await run();
    expect(await statuses(db, job_id)).toEqual(["completed", "completed", "completed"]);
    expect([await events("stage.waiting_approval"), await events("stage.approved")]).toEqual([1, 1]);
  });

  test("a rejected gate fails its stage with who and why, and asks again after resume", async () => {
    const { db, operate, run } = await floor();
    const { job_id } = await submit(db, [
      { name: "make", task: "t.make" },
      { name: "end", task: "t.end", gate: { message: "Publish?" } },
    ]);
    await run();
    await expect(operate.reject(job_id, { stage: "end", reason: "" })).rejects.toMatchObject({ code: "bad_request" });
    await operate.reject(job_id, { stage: "end", reason: "wrong colours", actor: "bob" });
    expect(await status(db, job_id)).toMatchObject({
      status: "failed",
      error: { code: "rejected", message: "bob rejected it: wrong colours" },
    });
    await operate.resume(job_id);
    expect(await statuses(db, job_id)).toEqual(["processing", "completed", "waiting_approval"]);
    await operate.approve(job_id);
    await run();
    expect((await status(db, job_id)).status).toBe("completed");
  });

  test("fail_fast ends the stage at the first failure beyond the budget, and what was held is refused", async () => {
    const { db, worker, operate, run } = await floor();
    const { job_id } = await submit(db, [
      { name: "make", task: "t.make", plan: { count: 20 }, failure_budget: { count: 1 }, on_task_failure: "fail_fast" },
      { name: "end", task: "t.end", parallelism: "fan_in" },
    ]);
    const held = await claim(db, worker, types, 5);
    await finish(db, worker, held.slice(0, 1), fails);
    expect((await status(db, job_id)).stage("make").status).toBe("processing");
    await finish(db, worker, held.slice(1, 3), fails);
    expect(await statuses(db, job_id)).toEqual(["failed", "failed", "cancelled"]);
    expect((await status(db, job_id)).stage("make")).toMatchObject({
      failed: 3,
      completed: 0,
      cancelled: 17,
      queued: 0,
    });
    expect(await finish(db, worker, held.slice(3))).toMatchObject({ accepted: 0 });
    expect(await claim(db, worker, types)).toEqual([]);
    await expectSound(db);
    await operate.resume(job_id);
    expect((await run()).length).toBe(21);
    expect((await status(db, job_id)).status).toBe("completed");
    await expectSound(db);
  });

  test("a tenant with a limit holds no more tasks than that", async () => {
    const { db, worker } = await floor();
    await submit(db, [{ name: "make", task: "t.make", plan: { count: 10 } }]);
    await db.sql`select app.set_limits('default', 3)`;
    const held = await claim(db, worker, types, 8);
    expect(held.length).toBe(3);
    expect(await claim(db, worker, types, 8)).toEqual([]);
    await finish(db, worker, held.slice(0, 2));
    expect((await claim(db, worker, types, 8)).length).toBe(2);
    await db.sql`select app.set_limits('default', null)`;
    expect((await claim(db, worker, types, 8)).length).toBe(5);
  });

  test("a tenant at its limit, or with a paused type, does not keep a worker from others", async () => {
    const { db, worker, operate } = await floor();
    await db.sql`select app.create_tenant('b')`;
    const stage = { name: "make", task: "t.make", plan: { count: 3 } };
    await submit(db, [stage]);
    await submit(db, [stage], {}, { tenant: "b" });
    await db.sql`select app.set_limits('b', 1)`;
    const served: string[] = [];
    let after: string | null = null;
    const next = async () => {
      const reply = await worker_commands.claim(db, { worker_id: worker, types, limit: 1, after_tenant: after });
      after = reply.after_tenant;
      for (const { tenant_id } of reply.stages) served.push(tenant_id);
    };
    for (let round = 0; round < 8; round++) await next();
    expect(served.sort()).toEqual(["b", "default", "default", "default"]);
    await db.sql`select app.set_limits('b', null)`;
    await submit(db, [stage], { again: 1 });
    await operate.pauseType("t.make");
    served.length = 0;
    for (let round = 0; round < 4; round++) await next();
    expect(served).toEqual(["b", "b"]);
  });

  test("a gate that another branch's failure closes gives the deadline back to what still runs", async () => {
    const { db, worker } = await floor();
    const { job_id } = await submit(db, [
      { name: "gate", task: "t.make", after: [], gate: { message: "Go?" } },
      { name: "bad", task: "t.next", after: [] },
      { name: "slow", task: "t.end", after: [] },
    ]);
    expect((await status(db, job_id)) as object).toMatchObject({ deadline_at: null });
    await finish(db, worker, await claim(db, worker, ["t.next"]), fails);
    expect(await statuses(db, job_id)).toEqual(["processing", "cancelled", "failed", "processing"]);
    expect((await status(db, job_id)) as object).toMatchObject({ deadline_at: expect.any(String) });
  });

  test("a task whose process crashes spends attempts and is quarantined at the third crash", async () => {
    const { db, worker, operate } = await floor();
    const { job_id } = await submit(db, [{ name: "make", task: "t.make", max_attempts: 10 }]);
    for (let crash = 1; crash <= 3; crash++) {
      const held = await claim(db, worker, types);
      expect(held.map(({ attempt }) => attempt)).toEqual([crash]);
      await finish(db, worker, held, () => ({ category: "crash", code: "killed", message: "killed by SIGSEGV" }));
      await db.sql`update app.ready set run_at = now()`;
    }
    expect((await status(db, job_id)).stage("make")).toMatchObject({
      failed: 1,
      error: { code: "killed", quarantined: true },
    });
    expect((await operate.errorGroups(job_id))[0]).toMatchObject({ quarantined: true, category: "crash", tasks: 1 });
  });

  test("a lone task that failed is run again on request, and keeps its story", async () => {
    const { db, worker, operate, run } = await floor();
    const [row] = await db.sql<{ reply: { task_id: string } }>`select app.enqueue('t.make', '{}') as reply`;
    const { task_id } = row!.reply;
    await expect(operate.retryTask(task_id)).rejects.toMatchObject({ code: "not_allowed_now" });
    await finish(db, worker, await claim(db, worker, types), fails);
    expect(await operate.retryTask(task_id, { dry_run: true })).toMatchObject({ changed: false });
    expect(await operate.retryTask(task_id)).toMatchObject({ changed: true, status: "queued" });
    await run();
    const [task] = await db.sql<{ reply: { status: string; attempts: { outcome: string }[] } }>`
      select app.get_task(${task_id}) as reply`;
    expect(task!.reply).toMatchObject({ status: "completed", attempts: [{ outcome: "failed" }] });
  });

  test("cancel counts first when asked to, and running tasks are told with the next heartbeat", async () => {
    const { db, worker } = await floor();
    const { job_id } = await submit(db, [{ name: "make", task: "t.make", plan: { count: 5 } }]);
    const held = await claim(db, worker, types, 2);
    const cancel = async (dry: boolean) => {
      const [row] = await db.sql<{ reply: object }>`select app.cancel_job(${job_id}, null, null, ${dry}) as reply`;
      return row!.reply;
    };
    expect(await cancel(true)).toMatchObject({ queued: 3, running: 2, changed: false, dry_run: true });
    expect((await status(db, job_id)).status).toBe("processing");
    expect(await cancel(false)).toMatchObject({ changed: true, status: "cancelled" });
    expect(await cancel(false)).toMatchObject({ changed: false });
    const claims = [held[0]!.claim_id];
    expect(await worker_commands.heartbeat(db, { worker_id: worker, running: [], claims })).toMatchObject({
      lost: claims,
    });
  });
});
