// One test per way in which a handler can go wrong in its process. Each runs beside a neighbour that started before and
// ends after it; failBesideNeighbour checks that neighbour, worker and lease were left alone and the process group is gone.
import { expect, test } from "vitest";
import * as bad from "./isolation_handlers.js";
import { aliveIn, failBesideNeighbour, isAlive, node_args, openIsolated } from "./isolation_shop.js";
import { eventually } from "./shop.js";

const pidIn = (line: string) => Number(/\d+$/.exec(line)?.[0]);

test("a handler that throws fails as it would in the worker, and its process is kept", async () => {
  const attempt = await failBesideNeighbour(bad.throws);
  expect(attempt).toMatchObject({ category: "transient", code: "unexpected", message: "boom" });
  expect(attempt.detail.stack).toContain("test/worker/isolation_handlers.");
  expect(attempt.detail.process).toBeUndefined();
});

for (const code of [0, 3]) {
  test(`a handler that calls process.exit(${code}) fails with that exit code and its last words`, async () => {
    const attempt = await failBesideNeighbour(bad.exits, { parameters: { code } });
    expect(attempt).toMatchObject({
      category: "crash",
      code: "exited",
      message: expect.stringContaining(`exit code ${code}`),
    });
    expect(attempt.detail.process).toMatchObject({ exit_code: code, last_lines: ["last words"] });
    expect(attempt.detail.process!.peak_memory_mb).toBeGreaterThan(20);
  });
}

test("a handler that aborts fails with the signal", async () => {
  const attempt = await failBesideNeighbour(bad.aborts);
  expect(attempt).toMatchObject({ category: "crash", code: "killed", message: expect.stringContaining("SIGABRT") });
  expect(attempt.detail.process).toMatchObject({ signal: "SIGABRT" });
});

test("a handler whose process is killed from outside fails with the signal", async () => {
  const attempt = await failBesideNeighbour(bad.waits, {
    meanwhile: async (shop) => {
      process.kill(pidIn(await shop.logged("pid ")), "SIGKILL");
    },
  });
  expect(attempt).toMatchObject({ category: "crash", code: "killed", message: expect.stringContaining("SIGKILL") });
  expect(attempt.detail.process!.last_lines.at(-1)).toMatch(/^info: pid \d+$/);
});

test("a full JavaScript heap is out_of_memory", async () => {
  const attempt = await failBesideNeighbour(bad.heap, {
    worker: { isolation_node_args: [...node_args, "--max-old-space-size=64"] },
  });
  expect(attempt).toMatchObject({
    category: "crash",
    code: "out_of_memory",
    message: expect.stringContaining("JavaScript heap"),
  });
  expect(attempt.detail.process!.peak_memory_mb).toBeGreaterThan(50);
});

test("memory outside of the heap beyond memory_mb is out_of_memory", async () => {
  const attempt = await failBesideNeighbour(bad.native);
  expect(attempt).toMatchObject({
    category: "crash",
    code: "out_of_memory",
    message: expect.stringContaining("memory_mb is 320"),
  });
  expect(attempt.detail.process!.peak_memory_mb).toBeGreaterThan(320);
});

test("an endless loop is ended by the time-out", async () => {
  const attempt = await failBesideNeighbour(bad.spins, { timeout_s: 1 });
  expect(attempt).toMatchObject({ category: "transient", code: "timeout" });
  expect(attempt.detail.process).toMatchObject({ signal: "SIGTERM" });
});

test("a promise that never settles is ended by the time-out", async () => {
  const attempt = await failBesideNeighbour(bad.never, { timeout_s: 1 });
  expect(attempt).toMatchObject({ category: "transient", code: "timeout" });
  expect(attempt.detail.process).toMatchObject({ signal: "SIGTERM" });
});

test("a handler that honours the abort of its time-out ends without force", async () => {
  const attempt = await failBesideNeighbour(bad.waits, { timeout_s: 1, worker: { abort_grace_s: 20 } });
  expect(attempt).toMatchObject({ category: "transient", code: "timeout" });
  expect(attempt.detail.process).toBeUndefined();
});

test("a handler that ignores the abort and SIGTERM is killed", async () => {
  const attempt = await failBesideNeighbour(bad.deaf, { timeout_s: 1 });
  expect(attempt).toMatchObject({ category: "transient", code: "timeout" });
  expect(attempt.detail.process).toMatchObject({ signal: "SIGKILL" });
});

test("an unhandled rejection ends its own task", async () => {
  const attempt = await failBesideNeighbour(bad.rejects);
  expect(attempt).toMatchObject({
    code: "exited",
    message: expect.stringContaining("TypeError: nobody waits for this"),
  });
  expect(attempt.detail.stack).toContain("test/worker/isolation_handlers.");
});

test("an error thrown outside of any promise ends its own task", async () => {
  const attempt = await failBesideNeighbour(bad.throws_aside);
  expect(attempt).toMatchObject({
    category: "crash",
    code: "exited",
    message: expect.stringContaining("Error: out of a timer"),
  });
});

test("an unhandled rejection of an earlier task leaves the next one alone, and the process is not used again", async () => {
  const shop = await openIsolated([bad.rejects_late]);
  await shop.start({ slots: 1 });
  const pids: number[] = [];
  for (const late of [true, false, false]) {
    const { task_id } = await shop.engine.enqueue("rejects_late", { late });
    const task = await shop.ended(task_id);
    expect(task).toMatchObject({ status: "completed" });
    pids.push((task.result as { pid: number }).pid);
  }
  expect(await shop.attempts()).toEqual([]);
  expect(pids[1]).toBe(pids[0]);
  expect(pids[2]).not.toBe(pids[0]);
  await eventually(() => aliveIn(pids[0]!).length === 0);
});

test("an unhandled rejection while nothing runs costs no task anything", async () => {
  const shop = await openIsolated([bad.rejects_idle, bad.calm]);
  await shop.start({ slots: 1 });
  const first = await shop.ended((await shop.engine.enqueue("rejects_idle", {})).task_id);
  const { pid } = first.result as { pid: number };
  await eventually(() => aliveIn(pid).length === 0);
  const next = await shop.ended((await shop.engine.enqueue("calm", {})).task_id);
  expect(next).toMatchObject({ status: "completed" });
  expect(await shop.attempts()).toEqual([]);
});

test("a process that writes into its channel to the worker is killed, and the worker reads on", async () => {
  const attempt = await failBesideNeighbour(bad.babbles);
  expect(attempt).toMatchObject({
    category: "crash",
    code: "killed",
    message: expect.stringContaining("descriptor 3"),
  });
});

test("a gigabyte on stdout ends at output_bytes", async () => {
  const before = process.memoryUsage.rss();
  const attempt = await failBesideNeighbour(bad.floods);
  expect(attempt).toMatchObject({
    category: "crash",
    code: "output_limit",
    message: expect.stringContaining("1000000 bytes"),
  });
  expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 1024 * 1024);
});

test("what a handler writes to stdout and stderr is kept with its task", async () => {
  const shop = await openIsolated([bad.talks]);
  await shop.start();
  await shop.ended((await shop.engine.enqueue("talks", {})).task_id);
  const lines = await shop.db.sql<{ level: string; message: string }>`
    select level, message from app.task_logs order by level, log_id`;
  expect(lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
    "info to stdout",
    "info half a line",
    "info without an end",
    "warn to stderr",
  ]);
});

for (const and of ["exit", "wait"]) {
  test(`a process that a handler has started ends with it (${and})`, async () => {
    let grandchild = 0;
    await failBesideNeighbour(bad.breeds, {
      parameters: { and },
      timeout_s: 1,
      meanwhile: async (shop) => {
        grandchild = pidIn(await shop.logged("grandchild "));
      },
    });
    await eventually(() => !isAlive(grandchild));
  });
}

test("a process that a handler has started outside of its group ends with it too", async () => {
  let grandchild = 0;
  const attempt = await failBesideNeighbour(bad.breeds, {
    parameters: { and: "wait", detached: true },
    timeout_s: 1,
    meanwhile: async (shop) => {
      grandchild = pidIn(await shop.logged("grandchild "));
    },
  });
  expect(attempt.code).toBe("timeout");
  await eventually(() => !isAlive(grandchild));
});

test("a process that a handler leaves behind when it returns is ended soon", async () => {
  const shop = await openIsolated([bad.breeds]);
  await shop.start({ slots: 1 });
  const task = await shop.ended((await shop.engine.enqueue("breeds", {})).task_id);
  expect(task.status).toBe("completed");
  const { pid, grandchild } = task.result as { pid: number; grandchild: number };
  await eventually(() => !isAlive(grandchild));
  await eventually(() => aliveIn(pid).length === 0);
});

test("a process left behind is ended also while the next task runs, and that task goes on", async () => {
  const shop = await openIsolated([bad.leaves]);
  await shop.start({ slots: 1 });
  const { task_ids } = await shop.engine.enqueueMany("leaves", [{ parameters: {} }, { parameters: {} }]);
  for (const task_id of task_ids) {
    const task = await shop.ended(task_id);
    expect(task.status).toBe("completed");
    await eventually(() => !isAlive((task.result as { grandchild: number }).grandchild));
  }
  expect(await shop.attempts()).toEqual([]);
});
