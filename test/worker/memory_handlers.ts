// Isolated handlers that declare different amounts of memory.
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineHandler } from "../../src/core/declare/declare.js";
import type { TaskContext } from "../../src/core/task/context.js";

export const here = { isolation: "process", module: import.meta.url } as const;

/** Until the file is there, if one is named. */
async function hold({ until, ms = 0 }: { until?: string; ms?: number }, ctx: TaskContext): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal: ctx.signal });
  while (until !== undefined && !existsSync(until)) await sleep(10, undefined, { signal: ctx.signal });
}

export const small = defineHandler("small", { ...here, memory_mb: 200 }, hold);
export const large = defineHandler("large", { ...here, memory_mb: 600 }, hold);
export const huge = defineHandler("huge", { ...here, memory_mb: 100_000 }, hold);
export const undeclared = defineHandler("undeclared", here, hold);
export const beside = defineHandler("beside", {}, () => "in the worker's own process");

export const tells_pid = defineHandler("tells_pid", { ...here, memory_mb: 600 }, () => process.pid);
export const tells_pid_too = defineHandler("tells_pid_too", { ...here, memory_mb: 650 }, () => process.pid);

export const deaf_large = defineHandler("deaf_large", { ...here, memory_mb: 600, timeout_s: 1 }, () => {
  for (;;);
});
