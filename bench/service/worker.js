// @ts-check
// A worker that tells when tasks start that know when they were sent.
import { openEngine, startWorker } from "../../dist/index.js";
import { benchRegistry } from "./registry.js";

/** @type {{ stop(): Promise<void> }[]} */
const opened = [];
let ran = 0;

/** @param {{ database_url: string, storage_dir: string, slots: number }} settings @param {(told: object) => void} tell */
export async function open({ database_url, storage_dir, slots }, tell) {
  const registry = benchRegistry((tenant, waited_ms) => {
    ran++;
    tell({ tenant, waited_ms });
  });
  const engine = await openEngine({ database_url, storage_dir, registry, connections: 4 });
  const worker = await startWorker(engine, { slots });
  opened.push({ stop: () => worker.kill() }, { stop: () => engine.close() });
}

export async function ask() {
  return { ran };
}

export async function close() {
  for (const one of opened) await one.stop();
}
