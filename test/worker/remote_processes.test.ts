// Who starts when memory is short, in a worker over HTTP: nothing that fits is kept out by what has gone.
import { expect, onTestFinished, test, vi } from "vitest";
import { defineHandler } from "../../src/core/declare/declare.js";
import { createRegistry } from "../../src/core/declare/registry.js";
import type { IsolatedTask } from "../../src/worker/isolation/isolated_task.js";
import type { ProcessPool } from "../../src/worker/isolation/pool.js";
import { openRemoteProcesses, RemoteProcesses } from "../../src/worker/isolation/remote_processes.js";
import { MemoryBudget } from "../../src/worker/run/memory.js";

const isolated = defineHandler("apart", { isolation: "process", module: import.meta.url }, () => null);

function openProcesses(total_mb: number, needs: Record<string, number>) {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const ends = new Map<string, () => void>();
  const run = ({ claim }: IsolatedTask) =>
    new Promise<string>((resolve) => ends.set(claim.stage.task_type, () => resolve("null")));
  const memory = new MemoryBudget(total_mb, new Map(Object.entries(needs)));
  const processes = new RemoteProcesses({ run } as unknown as ProcessPool, memory, {}, "", new Map());
  function start(task_type: string): AbortController {
    const asked = new AbortController();
    const task = { claim: { stage: { task_type } }, signal: asked.signal } as unknown as IsolatedTask;
    processes.run(task, "w").catch(() => {});
    return asked;
  }
  async function end(task_type: string) {
    ends.get(task_type)?.();
    ends.delete(task_type);
    await settled();
  }
  return { start, end, running: () => [...ends.keys()] };
}

/** Whatever was set going has gone as far as it can. */
async function settled() {
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
}

test("a task that was stopped while it waited for memory keeps no other type out", async () => {
  const { start, end, running } = openProcesses(300, { held: 200, large: 200, other: 100 });
  start("held");
  const stopped = start("large");
  stopped.abort(new Error("cancelled"));
  await settled();
  await end("held");
  vi.advanceTimersByTime(6_000);
  start("other");
  expect(running()).toEqual(["other"]);
});

test("one that is stopped leaves its type's turn to the next of it", async () => {
  const { start, end, running } = openProcesses(300, { held: 200, large: 300, other: 100 });
  start("held");
  const stopped = start("large");
  start("large");
  stopped.abort(new Error("cancelled"));
  await settled();
  vi.advanceTimersByTime(6_000);
  start("other");
  await end("held");
  expect(running()).toEqual(["large"]);
  await end("large");
  expect(running()).toEqual(["other"]);
});

test("when a turn is over, all that fit beside it start, whatever the order they came in", async () => {
  const { start, end, running } = openProcesses(300, { held: 300, one: 150, two: 150 });
  start("held");
  const stopped = start("one");
  vi.advanceTimersByTime(1_000);
  start("two");
  start("one");
  stopped.abort(new Error("cancelled"));
  await settled();
  vi.advanceTimersByTime(6_000);
  await end("held");
  expect(running().sort()).toEqual(["one", "two"]);
});

test.each(["auto", "same"] as const)(
  "with %s, a machine without a fence is told of unless none was asked for",
  async (isolation_user) => {
    const platform = Object.getOwnPropertyDescriptor(process, "platform") as PropertyDescriptor;
    Object.defineProperty(process, "platform", { ...platform, value: "other" });
    onTestFinished(() => void Object.defineProperty(process, "platform", platform));
    const warn = vi.fn();
    const { handlers } = createRegistry({ handlers: [isolated] });
    const options = {
      handlers,
      slots: 1,
      abort_grace_s: 1,
      memory_mb: 4096,
      isolation_user,
      key: "k",
      clean: String,
      warn,
    };
    await (await openRemoteProcesses(options)).close();
    const told = isolation_user === "same" ? [] : [[{ fence: "none", why: expect.any(String) }, expect.any(String)]];
    expect(warn.mock.calls).toEqual(told);
  },
);
