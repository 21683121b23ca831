// Redo: a completed task runs again because what it delivered may be gone, and exactly what has another input then follows.
import { expect, test } from "vitest";
import type { Store } from "../../src/core/places/store.js";
import type { Database } from "../../src/engine/database/database.js";
import { Operator } from "../../src/engine/verbs/operator.js";
import { bothDatabases } from "../postgres.js";
import { claim, drain, expectSound, type Fate, finish, type Held, register, status, submit } from "./floor.js";

const types = ["t.make", "t.next", "t.fold"];
const chain = [
  { name: "make", task: "t.make", plan: { count: 6 }, failure_budget: { count: 2 } },
  { name: "next", task: "t.next", parallelism: "match_previous" },
  { name: "fold", task: "t.fold", parallelism: "fan_in", batch: 4 },
];
const names = (ran: Held[]) => ran.map(({ stage, ordinal }) => `${stage} ${ordinal}`).sort();

bothDatabases("redo", (open) => {
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
    const task = async (task_id: string) => {
      const [row] = await db.sql<{ reply: Record<string, unknown> }>`select app.get_task(${task_id}) as reply`;
      return row!.reply;
    };
    return { db, worker, operate, run, taskId, task };
  }

  test("a completed task of an ended job runs again in a new epoch, with exactly what follows it, and keeps its story", async () => {
    const { db, operate, run, taskId, task } = await floor();
    const { job_id } = await submit(db, chain);
    await run(({ ordinal }) => ({ result: { ordinal } }));
    const second = await taskId(job_id, 1);
    const dry = await operate.redoTask(second, { dry_run: true });
    expect(dry).toMatchObject({ dry_run: true, changed: false, again: 1, epoch: 1 });
    expect((await status(db, job_id)).status).toBe("completed");
    expect(await operate.redoTask(second, { reason: "the file is gone", actor: "ada" })).toMatchObject({
      changed: true,
      epoch: 2,
      again: 1,
      from_stage: 1,
    });
    await expectSound(db);
    expect(names(await run(({ ordinal }) => ({ result: { ordinal, again: true } })))).toEqual([
      "fold 0",
      "make 1",
      "next 1",
    ]);
    expect((await status(db, job_id)).status).toBe("completed");
    expect(await task(second)).toMatchObject({
      status: "completed",
      result: { again: true },
      attempts: [{ outcome: "superseded", epoch: 1 }],
    });
    const [event] = await db.sql`
      select actor, reason, data ->> 'target' as target from app.events where kind = 'job.retried' and job_id = ${job_id}`;
    expect(event).toMatchObject({ reason: "the file is gone", target: second });
    expect(String(event!.actor)).toContain("ada");
    await expectSound(db);
  });

  test("what is not completed is refused with what to do instead", async () => {
    const { db, worker, operate, run, taskId } = await floor();
    const { job_id } = await submit(db, chain);
    const held = await claim(db, worker, types, 1);
    const first = await taskId(job_id, 0);
    const refused = (message: RegExp, hint: RegExp) => ({
      code: "not_allowed_now",
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
    await expect(operate.redoTask(first)).rejects.toMatchObject(refused(/is queued or running, not completed/, /wait/));
    await finish(db, worker, held);
    // Completed, and its job is not over.
    await expect(operate.redoTask(first)).rejects.toMatchObject({ code: "conflict" });
    await run(({ stage, ordinal }) =>
      stage === "make" && ordinal === 3 ? { category: "permanent", code: "boom" } : {},
    );
    const failed = await taskId(job_id, 3);
    await expect(operate.redoTask(failed)).rejects.toMatchObject(refused(/is failed, not completed/, /retry/));
    await expect(operate.redoTask("999999-0")).rejects.toMatchObject({ code: "not_found" });
    await expectSound(db);
  });

  test("a completed task that stands alone is queued again, once", async () => {
    const { db, operate, run, task } = await floor();
    const [row] = await db.sql<{ reply: { task_id: string } }>`select app.enqueue('t.make', '{}') as reply`;
    const { task_id } = row!.reply;
    await expect(operate.redoTask(task_id)).rejects.toMatchObject({ code: "not_allowed_now" });
    await run(() => ({ result: { n: 1 } }));
    expect(await operate.redoTask(task_id, { dry_run: true })).toMatchObject({ changed: false, status: "completed" });
    expect(await operate.redoTask(task_id)).toMatchObject({ changed: true, status: "queued", again: 1 });
    await expect(operate.redoTask(task_id)).rejects.toMatchObject({ code: "not_allowed_now" });
    await run(() => ({ result: { n: 2 } }));
    expect(await task(task_id)).toMatchObject({
      status: "completed",
      result: { n: 2 },
      attempts: [{ outcome: "superseded" }],
    });
    await expectSound(db);
  });

  test("a task of another tenant is not there", async () => {
    const { db, run, taskId, operate } = await floor();
    const { job_id } = await submit(db, chain);
    await run();
    await db.sql`insert into app.tenants (tenant_id) values ('other') on conflict do nothing`;
    const other = new Operator(db, "other", {} as Store);
    await expect(other.redoTask(await taskId(job_id, 0))).rejects.toMatchObject({ code: "not_found" });
    expect(await operate.redoTask(await taskId(job_id, 0), { dry_run: true })).toMatchObject({ again: 1 });
  });
});
