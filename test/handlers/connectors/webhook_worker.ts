// A worker, or the HTTP server, as a process of its own for tests that kill it. It says `ready` when it is registered or listens.
import { defineHandler, defineJob } from "../../../src/core/declare/declare.js";
import { createRegistry } from "../../../src/core/declare/registry.js";
import { openEngine } from "../../../src/engine/open_engine.js";
import { webhookDeliver } from "../../../src/handlers/connectors/webhook_deliver.js";
import { createApp } from "../../../src/server/app.js";
import type { WorkerOptions } from "../../../src/worker/options.js";
import { startWorker } from "../../../src/worker/worker.js";

export const DELIVER = "connector.webhook.deliver";
export const secret = `whsec_${Buffer.alloc(24, 9).toString("base64")}`;
export const hooked_job = defineJob({ type: "hooked", stages: [{ name: "work", task: "t.work" }] });
const work = defineHandler("t.work", {}, () => ({ done: true }));
export const registry = createRegistry({ jobs: [hooked_job], handlers: [work, webhookDeliver] });

/** Quick to be found dead, and allowed to call one port of this machine. */
export function optionsFor(port: number, types: readonly string[]): WorkerOptions {
  return {
    types,
    slots: 2,
    lease_s: 1,
    poll_s: 0.1,
    grace_s: 1,
    secrets: () => secret,
    outbound: { allow_http: true, allow_private: [`127.0.0.1:${port}`] },
  };
}

export interface ChildTask {
  database_url: string;
  storage_dir: string;
  port: number;
  /** None: it is no worker but the HTTP server, and says where it listens. */
  types: string[];
}

const [given] = process.argv.slice(2);
if (given !== undefined && /webhook_worker\.js$/.test(process.argv[1] ?? "")) {
  const { database_url, storage_dir, port, types } = JSON.parse(given) as ChildTask;
  const engine = await openEngine({ database_url, storage_dir, registry });
  if (types.length > 0) {
    await startWorker(engine, optionsFor(port, types));
    process.stdout.write("ready\n");
  } else {
    process.stdout.write(`ready ${await createApp({ engine }).listen({ port: 0, host: "127.0.0.1" })}\n`);
  }
}
