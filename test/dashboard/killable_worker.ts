// A worker as a process of its own, to be killed: it takes one type of task and never ends one, unless it is told to. Its lease is
// short, so that it is soon missed.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { createRegistry } from "../../src/core/declare/registry.js";
import { openEngine } from "../../src/engine/open_engine.js";
import { startWorker } from "../../src/worker/worker.js";

export const fragile_job = defineJob({
  type: "fragile",
  description: "One task that takes as long as its worker lives",
  stages: [{ name: "hold", task: "fragile.hold", description: "somebody holds out" }],
});
/** For the registry of whoever submits it; here nobody runs it. */
export const fragile_handler = defineHandler("fragile.hold", {}, () => null);

interface Given {
  database_url: string;
  storage_dir: string;
  holds: boolean;
}

export async function startKillableWorker(given: Given): Promise<ChildProcess> {
  // The process itself has no test runner around it.
  const { plainScript } = await import("../plain_code.js");
  const args = [plainScript(new URL(import.meta.url)), JSON.stringify(given)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  // A run that is killed must not leave workers behind.
  const killWithUs = () => child.kill("SIGKILL");
  process.once("exit", killWithUs);
  child.once("exit", () => process.off("exit", killWithUs));
  await once(child.stdout!, "data");
  return child;
}

async function main({ database_url, storage_dir, holds }: Given): Promise<void> {
  const hold = defineHandler("fragile.hold", {}, (_, { signal }) => {
    if (!holds) return { held_out: true };
    return new Promise<never>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  const registry = createRegistry({ jobs: [fragile_job], handlers: [hold] });
  const engine = await openEngine({ database_url, storage_dir, registry, connections: 2 });
  await startWorker(engine, { types: ["fragile.hold"], slots: 1, lease_s: 3, poll_s: 0.5 });
  process.stdout.write("ready\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(JSON.parse(process.argv[2]!) as Given);
