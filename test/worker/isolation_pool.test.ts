// The pool of processes by itself, without a database.
import pino from "pino";
import { expect, onTestFinished, test } from "vitest";
import type { Handler } from "../../src/core/declare.js";
import type { ClaimedStage, ClaimedTask } from "../../src/engine/commands.js";
import { newPace } from "../../src/worker/batch.js";
import { type Desk, TaskContext } from "../../src/worker/context.js";
import { HeldClaim } from "../../src/worker/held.js";
import { inheritedArgs } from "../../src/worker/isolation/fork.js";
import { type PoolOptions, ProcessPool } from "../../src/worker/isolation/pool.js";
import { calm, calm_too, hoards } from "./isolation_handlers.js";
import { aliveIn, node_args } from "./isolation_shop.js";
import { eventually } from "./shop.js";

function openPool(options: Partial<PoolOptions> = {}) {
  const log = pino({ enabled: false });
  const pool = new ProcessPool({ slots: 2, abort_grace_ms: 100, node_args, env: process.env, log, ...options });
  onTestFinished(() => pool.close());
  const run = async (handler: Handler, parameters: object = {}): Promise<number> => {
    const stage = {
      stage_id: 1,
      stage: "s",
      task_type: handler.name,
      job_id: null,
      previous: [] as unknown,
    } as ClaimedStage;
    const task: ClaimedTask = [0, null, parameters, null];
    const claim = new HeldClaim(
      { claim_id: 1, stage_id: 1, attempt: 1, crashes: 0, tasks: [task] },
      stage,
      newPace(),
      0,
    );
    const desk = { logs: { add: () => {} } } as unknown as Desk;
    const ctx = new TaskContext(desk, claim, task, performance.now());
    const returned = await pool.run(ctx, handler, { worker_id: "w", storage_dir: "/nowhere" });
    return JSON.parse(returned as string).pid;
  };
  return { pool, run };
}

test("a process is used again, until it has done its number of tasks", async () => {
  const { run } = openPool({ tasks_per_process: 3 });
  const pids: number[] = [];
  for (let n = 0; n < 4; n++) pids.push(await run(calm));
  expect(pids[1]).toBe(pids[0]);
  expect(pids[2]).toBe(pids[0]);
  expect(pids[3]).not.toBe(pids[0]);
  await eventually(() => aliveIn(pids[0]!).length === 0);
});

test("handlers with other memory limits have other processes, and an idle one makes room", async () => {
  const { pool, run } = openPool({ slots: 1 });
  const first = await run(calm);
  const second = await run(calm_too);
  expect(second).not.toBe(first);
  await eventually(() => aliveIn(first).length === 0);
  expect(pool.groups).toEqual([second]);
});

test("a process that nobody needs is ended after a while", async () => {
  const { pool, run } = openPool({ idle_ms: 50 });
  const pid = await run(calm);
  await eventually(() => aliveIn(pid).length === 0);
  await eventually(() => pool.groups.length === 0);
});

test("a process that keeps its memory is ended after a few tasks", async () => {
  const { run } = openPool();
  const pids: number[] = [];
  for (let n = 0; n < 4; n++) pids.push(await run(hoards));
  expect(new Set(pids.slice(0, 3)).size).toBe(1);
  expect(pids[3]).not.toBe(pids[0]);
});

test("a task sent to a process that has just died runs in another, at no cost", async () => {
  const { run } = openPool();
  const first = await run(calm);
  process.kill(first, "SIGKILL");
  // Its exit is heard of when the loop turns; until then it looks warm.
  const second = await run(calm);
  expect(second).not.toBe(first);
});

test("a closed pool leaves no process and starts none", async () => {
  const { pool, run } = openPool();
  const pids = await Promise.all([run(calm), run(calm)]);
  await pool.close();
  expect(pids.flatMap(aliveIn)).toEqual([]);
  await expect(run(calm)).rejects.toThrow("stopped");
});

test("a child inherits the worker's flags, but neither its program nor its debugger", () => {
  const flags = ["--import", "./loader.mjs", "--inspect=9229", "-e", "code()", "--conditions=dev", "--watch"];
  expect(inheritedArgs(flags)).toEqual(["--import", "./loader.mjs", "--conditions=dev"]);
});
