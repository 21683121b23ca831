// Runs a task in a process of its own while no file descriptor is free, and says how it failed. For a shell that has set a
// low limit before.
import { openSync } from "node:fs";
import { classify } from "../../src/core/errors/errors.js";
import { HandlerProcess } from "../../src/worker/isolation/handler_process.js";
import { calm } from "./isolation_handlers.js";
import { taskContext } from "./isolation_task.js";

const ctx = taskContext(calm);
const { module } = calm.options as { module: string };
try {
  for (;;) openSync("/dev/null", "r");
} catch {
  // None is left.
}
const settings = { tenant_id: "default", module, memory_mb: 256, node_args: [], env: process.env, abort_grace_ms: 100 };
const child = new HandlerProcess(settings, { onFree() {}, onGone() {}, onLateError() {} });
const failed = await child.run(ctx, calm, "w").catch(classify);
await child.gone;
process.stdout.write(JSON.stringify(failed));
