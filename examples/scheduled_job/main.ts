// A job by the clock: made, watched for two of its times, paused.
import { setTimeout as sleep } from "node:timers/promises";
import { createRegistry, defineHandler, defineJob, openEngine, startServer, startWorker } from "fanfold";
import { createClient } from "fanfold/client";
import { z } from "zod";

const count = defineHandler("stock.count", {}, async ({ until }) => ({ counted_until: until }));
const countStock = defineJob({
  type: "count_stock",
  parameters: z.object({ until: z.string() }),
  stages: [{ name: "count", task: "stock.count" }],
});

const engine = await openEngine({
  registry: createRegistry({ jobs: [countStock], handlers: [count] }),
  database_url: process.env.DATABASE_URL || undefined,
  data_dir: "memory://",
});
// Workers and servers look after schedules by themselves: there is nothing more to start.
const worker = await startWorker(engine);
const server = await startServer({ engine, port: 0 });
const { key } = await engine.keys.create({ name: "example", scopes: ["submit", "read", "operate"] });
const client = createClient({ url: server.url, key });

try {
  const nightly = await client.schedules.previewPattern({ cron: "0 3 * * *", time_zone: "Europe/Zurich", count: 1 });
  console.log(`0 3 * * * would be: ${nightly.words}`);

  // "{{tick_at}}" becomes the time that the job is for, also when it is submitted late.
  const schedule = { cron: "* * * * * *", time_zone: "Europe/Zurich", missed: "skip" } as const;
  await client.schedules.put("stock", countStock, { until: "{{tick_at}}" }, schedule);

  const submitted = async () => {
    const ticks = await client.schedules.ticks("stock").all();
    return ticks.flatMap(({ tick_at, job_id }) => (job_id === null ? [] : [{ tick_at, job_id }]));
  };
  let ticks = await submitted();
  while (ticks.length < 2) {
    await sleep(200);
    ticks = await submitted();
  }
  await client.schedules.pause("stock", { reason: "seen enough" });

  for (const { tick_at, job_id } of ticks.slice(0, 2)) {
    const { status, result } = await client.wait(job_id);
    const { counted_until } = result as { counted_until: string };
    const is_own = new Date(counted_until).getTime() === new Date(tick_at).getTime();
    console.log(`a job for its own time: ${is_own}, ${status}`);
  }
  console.log(`two times, two jobs: ${ticks[0]?.job_id !== ticks[1]?.job_id}`);
} finally {
  await server.stop();
  await worker.stop();
  await engine.close();
}
