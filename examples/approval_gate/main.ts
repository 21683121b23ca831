// A person decides: the job prepares a page, waits for approval, and publishes it or not.
import { setTimeout as sleep } from "node:timers/promises";
import { createRegistry, defineHandler, defineJob, openEngine, startServer, startWorker } from "fanfold";
import { createClient } from "fanfold/client";
import { z } from "zod";

const prepare = defineHandler("page.prepare", {}, async ({ title }) => ({ draft: `<h1>${title}</h1>` }));
const publish = defineHandler("page.publish", {}, async (_parameters, ctx) => {
  const { draft } = await ctx.previous.one();
  return { published: draft };
});

const publishPage = defineJob({
  type: "publish_page",
  parameters: z.object({ title: z.string() }),
  stages: [
    { name: "prepare", task: "page.prepare" },
    { name: "publish", task: "page.publish", gate: "Read the draft. Is it fit to be seen?" },
  ],
});

const engine = await openEngine({
  registry: createRegistry({ jobs: [publishPage], handlers: [prepare, publish] }),
  database_url: process.env.DATABASE_URL || undefined,
  data_dir: "memory://",
});
const worker = await startWorker(engine);
const server = await startServer({ engine, port: 0 });
const { key } = await engine.keys.create({ name: "editor", scopes: ["submit", "read", "operate"] });
const client = createClient({ url: server.url, key });

/** Resolves with the stage that waits for a person. */
async function untilAsked(job_id: string) {
  for (;;) {
    const { stages } = await client.status(job_id);
    const waiting = stages.find(({ status }) => status === "waiting_approval");
    if (waiting !== undefined) return waiting;
    await sleep(100);
  }
}

try {
  for (const title of ["Flood map 2030", "Flood map of my cat"]) {
    const { job_id } = await client.submit(publishPage, { title });
    const { gate } = await untilAsked(job_id);
    console.log(`${title}: ${gate?.message}`);
    if (title.includes("cat")) await client.reject(job_id, { reason: "not a map", actor: "ada" });
    else await client.approve(job_id, { reason: "reads well", actor: "ada" });
    const job = await client.wait(job_id);
    const decision = job.stages[1]?.decision;
    const outcome = `${decision?.approved ? "approved" : "rejected"} (${decision?.why}), job ${job.status}`;
    const result = job.result as { published: string } | null;
    console.log(`  ${outcome}${result ? `: ${result.published}` : ""}`);
  }
} finally {
  await server.stop();
  await worker.stop();
  await engine.close();
}
