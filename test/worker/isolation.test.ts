// What an isolated handler is given, and how its process lives and ends with the worker.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import * as handlers from "./isolation_handlers.js";
import { aliveIn, isAlive, openIsolated } from "./isolation_shop.js";
import { attemptsOf, eventually, gate } from "./shop.js";

const pidIn = (line: string) => Number(/\d+$/.exec(line)?.[0]);

test("tasks of a module share warm processes, other than the worker's own, as many as there are slots", async () => {
  const shop = await openIsolated([handlers.calm]);
  await shop.start({ slots: 2 });
  const { task_ids } = await shop.engine.enqueueMany(
    "calm",
    Array.from({ length: 20 }, () => ({ parameters: {} })),
  );
  const pids = new Set<number>();
  for (const task_id of task_ids) {
    const task = await shop.ended(task_id);
    expect(task.status).toBe("completed");
    pids.add((task.result as { pid: number }).pid);
  }
  expect(pids.size).toBeLessThanOrEqual(2);
  expect(pids).not.toContain(process.pid);
});

test("the environment of the process has no way into the database, and what the worker was told to add", async () => {
  const shop = await openIsolated([handlers.tells_environment]);
  const secrets = ["DATABASE_URL", "FANFOLD_DATABASE_URL", "PGPASSWORD", "PGHOST", "POSTGRES_PASSWORD", "MAPS_URL"];
  for (const name of secrets) vi.stubEnv(name, "postgres://u:secret@host/db");
  vi.stubEnv("FANFOLD_FAULTS", "after-claim:kill9");
  vi.stubEnv("GDAL_CACHEMAX", "512");
  const worker = await shop.start({ isolation_env: { MY_KEY: "mine" } });
  vi.unstubAllEnvs();
  const { task_id } = await shop.engine.enqueue("tells_environment", {});
  const environment = (await shop.ended(task_id)).result as Record<string, string>;
  await worker.stop();
  expect(environment).toMatchObject({ GDAL_CACHEMAX: "512", MY_KEY: "mine" });
  expect(JSON.stringify(environment)).not.toContain("secret");
  for (const name of [...secrets, "FANFOLD_FAULTS"]) expect(environment).toHaveProperty(name, "");
});

test("what a process has written in ctx.db is undone when it dies, and the connection serves the next", async () => {
  const shop = await openIsolated([handlers.stuck_in_db, handlers.writes]);
  await shop.db.script("create table public.written (n int); grant all on public.written to public");
  await shop.start({ slots: 2 });
  const stuck = await shop.engine.enqueue("stuck_in_db", {}, { max_attempts: 1 });
  const pid = pidIn(await shop.logged("pid "));
  // There is one connection for handlers: this one waits for it.
  const next = await shop.engine.enqueue("writes", {});
  process.kill(pid, "SIGKILL");
  expect(await shop.ended(stuck.task_id)).toMatchObject({ status: "failed", error: { code: "killed" } });
  expect(await shop.ended(next.task_id)).toMatchObject({ status: "completed" });
  expect(await shop.db.sql`select n from public.written`).toEqual([{ n: 2 }]);
});

for (const then of ["return", "exit"]) {
  test(`the scratch directory of a process is removed after it (${then})`, async () => {
    const shop = await openIsolated([handlers.uses_scratch]);
    await shop.start();
    const { task_id } = await shop.engine.enqueue("uses_scratch", { then }, { max_attempts: 1 });
    const dir = (await shop.logged("scratch ")).slice("scratch ".length);
    await shop.ended(task_id);
    await eventually(() => !existsSync(dir));
  });
}

test("progress of a process is shown with the heartbeat", async () => {
  const shop = await openIsolated([handlers.progresses]);
  const worker = await shop.start({ lease_s: 1 });
  const until = join(shop.storage_dir, "go-on");
  const { task_id } = await shop.engine.enqueue("progresses", { until });
  await eventually(async () => {
    const [row] = await shop.db.sql<{ running: { progress: unknown }[] }>`
      select running from app.workers where worker_id = ${worker.worker_id}::text::uuid`;
    return JSON.stringify(row?.running[0]?.progress) === '{"done":1000,"total":1000,"message":"tiles"}';
  });
  writeFileSync(until, "");
  expect((await shop.ended(task_id)).status).toBe("completed");
});

test("what a process logs is bounded as in the worker", async () => {
  const shop = await openIsolated([handlers.chatty]);
  const worker = await shop.start();
  await shop.ended((await shop.engine.enqueue("chatty", {})).task_id);
  await worker.idle();
  const lines = await shop.db.sql<{ message: string }>`select message from app.task_logs order by log_id`;
  expect(lines).toHaveLength(1001);
  expect(lines[1000]!.message).toContain("truncated");
});

test("a handler its module does not export, or a module that cannot be imported, fails the task with what to do", async () => {
  const shop = await openIsolated([handlers.hides(), handlers.lost_module]);
  await shop.start();
  const hidden = await shop.engine.enqueue("hidden", {}, { max_attempts: 1 });
  const lost = await shop.engine.enqueue("lost_module", {}, { max_attempts: 1 });
  expect(await shop.ended(hidden.task_id)).toMatchObject({
    error: { code: "no_handler", message: expect.stringMatching(/exports no handler "hidden".*export it/) },
  });
  expect(await shop.ended(lost.task_id)).toMatchObject({
    error: { code: "no_handler", message: expect.stringContaining("could not import file:///no/such/module.js") },
  });
});

test("a cancelled task's process is ended, and its slot goes to the next", async () => {
  const job = defineJob({ type: "waiting", stages: [{ name: "only", task: "deaf" }] });
  const shop = await openIsolated([handlers.deaf, handlers.calm], [job]);
  const worker = await shop.start({ slots: 1, lease_s: 1 });
  const { job_id } = await shop.engine.submit("waiting", {});
  const pid = pidIn(await shop.logged("pid "));
  await shop.engine.cancelJob(job_id);
  await eventually(() => aliveIn(pid).length === 0);
  const { task_id } = await shop.engine.enqueue("calm", {});
  expect((await shop.ended(task_id)).status).toBe("completed");
  expect(worker.stats()).toMatchObject({ failed: 0, fenced: 0 });
});

test("a worker that lost its lease ends the processes of its tasks", async () => {
  const shop = await openIsolated([handlers.spins]);
  const worker = await shop.start({ slots: 1, lease_s: 2 });
  await shop.engine.enqueue("spins", {});
  const pid = pidIn(await shop.logged("pid "));
  await shop.db.sql`update app.workers set heartbeat_at = now() - interval '1 hour'`;
  await shop.engine.worker_commands.reap_workers(shop.db);
  await eventually(() => worker.stats().fenced === 1);
  await eventually(() => aliveIn(pid).length === 0);
  expect(await attemptsOf(shop.db)).toMatchObject([{ outcome: "lost" }]);
});

for (const [how, handler] of [
  ["honours", handlers.waits],
  ["ignores", handlers.deaf],
  ["cannot hear", handlers.spins],
] as const) {
  test(`a stopping worker hands back the task of a process that ${how} the abort, and leaves none behind`, async () => {
    const shop = await openIsolated([handler]);
    const worker = await shop.start({ grace_s: 0.2 });
    await shop.engine.enqueue(handler.name, {});
    const pid = pidIn(await shop.logged("pid "));
    await worker.stop();
    expect(aliveIn(pid)).toEqual([]);
    expect(await attemptsOf(shop.db)).toMatchObject([{ attempt: 1, outcome: "released" }]);
  });
}

test("kill hands back the task of a process at once, and leaves none behind, idle ones included", async () => {
  const shop = await openIsolated([handlers.deaf, handlers.calm]);
  const worker = await shop.start({ grace_s: 3600, abort_grace_s: 3600 });
  const { task_id } = await shop.engine.enqueue("calm", {});
  const idle = (await shop.ended(task_id)).result as { pid: number };
  await shop.engine.enqueue("deaf", {});
  const pid = pidIn(await shop.logged("pid "));
  await worker.kill();
  expect([...aliveIn(pid), ...aliveIn(idle.pid)]).toEqual([]);
  expect(await attemptsOf(shop.db)).toMatchObject([{ outcome: "released" }]);
});

test("a crashing worker hands back what is isolated or has not started, and what ran in its process is lost", async () => {
  const { passed, open } = gate();
  const guilty = defineHandler("guilty", {}, () => passed);
  const shop = await openIsolated([guilty, handlers.waits]);
  const worker = await shop.start({ slots: 2, lease_s: 2 });
  const isolated = await shop.engine.enqueue("waits", {});
  const pid = pidIn(await shop.logged("pid "));
  const { task_ids } = await shop.engine.enqueueMany("guilty", [{ parameters: {} }, { parameters: {} }]);
  await eventually(() => worker.stats().running === 2);
  await worker.crash(new Error("nobody caught this"));
  expect(isAlive(pid)).toBe(false);
  const [row] = await shop.db.sql<{ held: number }>`
    select coalesce(sum(app.held_count(held)), 0)::int as held from app.claims`;
  expect(row!.held).toBe(1);
  await eventually(async () => {
    await shop.engine.worker_commands.reap_workers(shop.db);
    return (await attemptsOf(shop.db)).length === 2;
  });
  const attempts = await shop.db.sql`
    select stage_id || '-' || ordinal as task, outcome, code from app.attempts order by outcome`;
  expect(attempts).toEqual([
    { task: task_ids[0], outcome: "lost", code: "worker_lost" },
    { task: isolated.task_id, outcome: "released", code: null },
  ]);
  open();
});
