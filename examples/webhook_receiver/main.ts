// A job ends, and another system hears of it: signed, once, and nothing that is forged.
import { randomBytes } from "node:crypto";
import {
  builtinRegistry,
  createRegistry,
  defineHandler,
  defineJob,
  openEngine,
  startServer,
  startWorker,
} from "fanfold";
import { createClient } from "fanfold/client";
import { z } from "zod";
import { type JobMessage, startReceiver } from "./receiver.ts";

const resize = defineHandler("image.resize", {}, async ({ width }) => ({ width, bytes: width * 12 }));
const resizeImage = defineJob({
  type: "resize_image",
  parameters: z.object({ width: z.int() }),
  stages: [{ name: "resize", task: "image.resize" }],
});

const endpoint_secrets: string[] = [];
const heard: JobMessage[] = [];
const receiver = await startReceiver({
  secrets: () => endpoint_secrets,
  onWebhook: (message) => heard.push(message),
});

// The handler that delivers comes with Fanfold.
const builtin = builtinRegistry();
const engine = await openEngine({
  registry: createRegistry({ jobs: [resizeImage], handlers: [resize, ...builtin.handlers] }),
  database_url: process.env.DATABASE_URL || undefined,
  data_dir: "memory://",
  // Seals the secrets of webhooks; on a server it is FANFOLD_SECRET_KEY, the same for every process.
  secret_keys: [randomBytes(32)],
});
// Only public addresses over TLS may be called, unless whoever runs the worker says otherwise.
const outbound = { allow_http: true, allow_private: [`127.0.0.1:${receiver.port}`] };
const worker = await startWorker(engine, { outbound });
const server = await startServer({ engine, port: 0 });
const { key } = await engine.keys.create({ name: "example", scopes: ["submit", "read", "admin"] });
const client = createClient({ url: server.url, key });

try {
  const { endpoint_id, secret } = await client.webhooks.create({ url: receiver.url, events: ["job.completed"] });
  if (secret !== null) endpoint_secrets.push(secret);

  const { job_id } = await client.submit(resizeImage, { width: 640 });
  await client.wait(job_id);
  await untilDelivered(endpoint_id);
  for (const { type, job_type, status, final_results } of heard) {
    const { bytes } = final_results as { bytes: number };
    console.log(`heard: ${type}, ${job_type} is ${status}, ${bytes} bytes`);
  }

  const forged = await fetch(receiver.url, {
    method: "POST",
    headers: {
      "webhook-id": "msg_1",
      "webhook-timestamp": `${Math.floor(Date.now() / 1000)}`,
      "webhook-signature": "v1,AAAA",
    },
    body: JSON.stringify({ type: "job.completed", job_id }),
  });
  console.log(`forged: answered with ${forged.status}, heard ${heard.length} message in all`);
} finally {
  await server.stop();
  await worker.stop();
  await engine.close();
  await receiver.stop();
}

/** The delivery log says what became of each message. */
async function untilDelivered(endpoint_id: string) {
  for (;;) {
    const [delivery] = await client.webhooks.deliveries.list({ endpoint_id }).all(1);
    if (delivery?.status === "delivered") return;
    if (delivery?.last_error) throw new Error(`not delivered: ${delivery.last_error}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
