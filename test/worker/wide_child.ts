// A worker in a process of its own that runs one wide job to its end and tells its status, its fold and its peak memory.
import { readFileSync } from "node:fs";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { createRegistry } from "../../src/core/declare/registry.js";
import { openEngine } from "../../src/engine/open_engine.js";
import { startWorker } from "../../src/worker/worker.js";

const [database_url, storage_dir, count] = process.argv.slice(2) as [string, string, string];

const wide = defineJob({
  type: "wide",
  stages: [
    { name: "each", task: "wide.each", tasks: { count: Number(count) } },
    { name: "fold", task: "wide.fold", parallelism: "fan_in" },
  ],
});
const each = defineHandler("wide.each", {}, (_, ctx) => ({ ordinal: ctx.ordinal }));
const fold = defineHandler("wide.fold", {}, async (_, ctx) => {
  let sum = 0;
  let seen = 0;
  for await (const { result } of ctx.previous) {
    sum += result.ordinal;
    seen++;
  }
  return { seen, sum };
});

const registry = createRegistry({ jobs: [wide], handlers: [each, fold] });
const engine = await openEngine({ database_url, storage_dir, registry });
const worker = await startWorker(engine, { slots: 16 });
const { job_id } = await engine.submit("wide", {}, { mode: "force" });
const { status, result } = await engine.wait(job_id);
await worker.stop();
await engine.close();
// The kernel's maxRSS would count the process that started this one.
const peak_kb = Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))![1]);
process.stdout.write(JSON.stringify({ status, result, peak_mb: peak_kb / 1024 }));
