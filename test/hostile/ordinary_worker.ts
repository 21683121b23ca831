// A worker that any user could start: runs the handler that spies, and says what it found. Given a folder of its own.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRegistry } from "../../src/core/declare/registry.js";
import { openEngine } from "../../src/engine/open_engine.js";
import { findFence } from "../../src/worker/isolation/fence.js";
import { startWorker } from "../../src/worker/worker.js";
import { spies } from "./isolation_handlers.js";

const [folder = ""] = process.argv.slice(2);
const kept = join(folder, "kept.txt");
const store = join(folder, "storage");
const other = join(folder, "other");
writeFileSync(kept, "ordinary-file", { mode: 0o600 });
mkdirSync(other);
const registry = createRegistry({ handlers: [spies] });
const engine = await openEngine({ database_url: process.env.DATABASE_URL!, registry, storage_dir: store });
const worker = await startWorker(engine, {
  isolation_node_args: process.execArgv,
  scratch_dir: join(folder, "scratch"),
});
const { task_id } = await engine.enqueue("spies", { worker: process.pid, kept, store, other });
let task = await engine.task(task_id);
while (task.finished_at === null) {
  await new Promise((resolve) => setTimeout(resolve, 50));
  task = await engine.task(task_id);
}
const { kind } = await findFence("auto");
process.stdout.write(JSON.stringify({ kind, result: task.result, error: task.error }));
await worker.stop();
await engine.close();
