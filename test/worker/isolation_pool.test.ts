// The pool of processes by itself, without a database.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pino from "pino";
import { expect, onTestFinished, test } from "vitest";
import type { Handler } from "../../src/core/declare/declare.js";
import { BadRequest, classify, Permanent, StorageError, Transient } from "../../src/core/errors/errors.js";
import { inheritedArgs, inheritedEnv } from "../../src/worker/isolation/fork.js";
import { addGroup, removeGroup, signalGroup } from "../../src/worker/isolation/groups.js";
import { packError, unpackError } from "../../src/worker/isolation/messages.js";
import { type PoolOptions, ProcessPool } from "../../src/worker/isolation/pool.js";
import { calm, calm_too, hoards } from "./isolation_handlers.js";
import { aliveIn, node_args } from "./isolation_shop.js";
import { taskContext } from "./isolation_task.js";
import { eventually } from "./shop.js";

function openPool(options: Partial<PoolOptions> = {}) {
  const log = pino({ enabled: false });
  const pool = new ProcessPool({ slots: 2, abort_grace_ms: 100, node_args, env: process.env, log, ...options });
  onTestFinished(() => pool.close());
  const run = async (handler: Handler, parameters: object = {}): Promise<number> => {
    const returned = await pool.run(taskContext(handler, parameters), handler, "w");
    return JSON.parse(returned as string).pid;
  };
  return { pool, run };
}

test("a process runs tasks of one tenant only: what one has left in its memory, no other finds", async () => {
  const { pool } = openPool();
  const pidFor = async (tenant_id: string) => {
    const ctx = taskContext(calm);
    Object.assign(ctx.claim.stage, { tenant_id });
    return JSON.parse((await pool.run(ctx, calm, "w")) as string).pid as number;
  };
  const [acme, globex, again] = [await pidFor("acme"), await pidFor("globex"), await pidFor("acme")];
  expect([globex === acme, again === acme]).toEqual([false, true]);
});

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

test.each([
  "--env-file=.env",
  "--env-file .env",
  "--env-file-if-exists .env",
  "--inspect-port 9331",
  "--inspect_port 9331",
  "--debug-port=9331",
  "--watch-path src",
  "--test-reporter dot",
  "--input-type module",
  "--eval=code()",
])("a child does not inherit %s", (text) => {
  const flag = text.split(" ");
  const kept = ["--conditions", "dev", "--import", "./loader.mjs"];
  expect(inheritedArgs([...kept.slice(0, 2), ...flag, ...kept.slice(2)])).toEqual(kept);
  expect(inheritedArgs([...kept, ...flag])).toEqual(kept);
});

test("a child inherits NODE_OPTIONS without the debugger", () => {
  const NODE_OPTIONS =
    '--require "./my \\"own\\" hook.js" --inspect-port 9331 --inspect --title=x --inspect-brk=0.0.0.0:1';
  expect(inheritedEnv({ NODE_OPTIONS, PATH: "/bin" })).toEqual({
    NODE_OPTIONS: '--require "./my \\"own\\" hook.js" --title=x',
    PATH: "/bin",
  });
  expect(inheritedEnv({ PATH: "/bin" })).toEqual({ PATH: "/bin" });
});

test("a signal for a group that is gone goes to nobody who has its number now", async () => {
  const bystander = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  onTestFinished(() => void bystander.kill("SIGKILL"));
  await once(bystander, "spawn");
  addGroup(bystander.pid!);
  signalGroup(bystander.pid!, "SIGKILL");
  removeGroup(bystander.pid!);
  // Signals arrive in order: had the first one been sent, this one would not be what ended it.
  bystander.kill("SIGTERM");
  expect(await once(bystander, "exit")).toEqual([null, "SIGTERM"]);
});

test.each([
  new Permanent("no such stage", { code: "no_stage" }),
  new Transient("later"),
  new StorageError("missing", "no such file"),
  new BadRequest("not so", { problems: [{ path: "$.a", problem: "is wrong", fix: "mend it" }] }),
])("an error of ours means the same in the child: $name", (error) => {
  const there = unpackError(structuredClone(packError(error)));
  expect(there).toMatchObject({ name: error.name, message: error.message, stack: error.stack });
  expect(classify(there)).toEqual(classify(error));
});

test("without a free file descriptor a task fails and may be tried again, and the worker lives", async () => {
  const script = fileURLToPath(new URL("./no_descriptors.ts", import.meta.url));
  const command = 'ulimit -n 256 && exec "$0" "$@"';
  const { stdout } = await promisify(execFile)("sh", ["-c", command, process.execPath, ...node_args, script]);
  expect(JSON.parse(stdout)).toMatchObject({ category: "transient", code: "not_started" });
});
