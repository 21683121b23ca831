// A worker that holds an embedded database is large, and forking it takes a while.
import pino from "pino";
import { expect, onTestFinished, test } from "vitest";
import { armFault } from "../../src/fault.js";
import { ProcessPool } from "../../src/worker/isolation/pool.js";
import { calm, delegates } from "./isolation_handlers.js";
import { node_args } from "./isolation_shop.js";
import { taskContext } from "./isolation_task.js";

test("what a task starts is not taken for what an earlier one left, however long the fork took", async () => {
  const log = pino({ enabled: false });
  const pool = new ProcessPool({ slots: 1, abort_grace_ms: 100, node_args, env: process.env, log });
  onTestFinished(() => pool.close());
  onTestFinished(
    armFault("fork", () => {
      for (const until = performance.now() + 3000; performance.now() < until; );
    }),
  );
  const first = JSON.parse((await pool.run(taskContext(calm), calm, "w")) as string);
  const second = JSON.parse((await pool.run(taskContext(delegates), delegates, "w")) as string);
  expect(second).toEqual({ pid: first.pid, code: 0, signal: null });
});
