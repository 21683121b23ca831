// A worker as a process of its own that publishes layers, to be killed with kill -9. Its lease is short, so that it is soon missed.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createRegistry } from "../../src/core/declare/registry.js";
import { openEngine } from "../../src/engine/open_engine.js";
import { builtinRegistry } from "../../src/jobs/index.js";
import { startWorker } from "../../src/worker/worker.js";

interface Given {
  database_url: string;
  storage_dir: string;
}

export async function startPublisher(given: Given): Promise<ChildProcess> {
  // The process itself has no test runner around it.
  const { plainScript } = await import("../plain_code.js");
  const child = spawn(process.execPath, [plainScript(new URL(import.meta.url)), JSON.stringify(given)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  // A run that is killed must not leave workers behind.
  const killWithUs = () => child.kill("SIGKILL");
  process.once("exit", killWithUs);
  child.once("exit", () => process.off("exit", killWithUs));
  await once(child.stdout!, "data");
  return child;
}

async function main({ database_url, storage_dir }: Given): Promise<void> {
  const registry = createRegistry(builtinRegistry());
  const engine = await openEngine({ database_url, storage_dir, registry, connections: 3 });
  await startWorker(engine, { types: ["vector.publish"], slots: 1, lease_s: 3, poll_s: 0.5 });
  process.stdout.write("ready\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(JSON.parse(process.argv[2]!) as Given);
