// Wide jobs of one tenant keep a worker busy, then a small one is submitted: how long until it starts and ends.
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { openShop, type TestShop } from "./shop.js";

const nap = defineHandler("nap", {}, async (_, ctx) => {
  const { ms } = ctx.job!.parameters as { ms: number };
  await sleep(ms, undefined, { signal: ctx.signal });
});

/** All jobs are of one type, and so are their tasks: nothing but turns keeps them apart. */
const naps = defineJob({
  type: "naps",
  parameters: z.object({ name: z.string(), n: z.int(), ms: z.int() }),
  stages: [{ name: "nap", task: "nap", tasks: { count: "{parameters.n}" } }],
});

export interface Crowd {
  wide_jobs: number;
  wide: { n: number; ms: number };
  small: { n: number; ms: number };
}

export interface Seen {
  shop: TestShop;
  /** From submit to the first start, and to the end, by the database's clock. */
  started_s: number;
  ended_s: number;
  /** Completed tasks of each wide job when the small one had ended. */
  wide_completed: number[];
  released: number;
}

export async function smallBesideWide({ wide_jobs, wide, small }: Crowd): Promise<Seen> {
  const shop = await openShop({ jobs: [naps], handlers: [nap] });
  const { engine, db } = shop;
  for (let n = 0; n < wide_jobs; n++) await engine.submit("naps", { name: `wide${n}`, ...wide });
  const worker = await shop.worker({ slots: 8 });
  // It has learnt how long these tasks take, and holds some ahead.
  while (worker.stats().completed < 16) await sleep(20);
  const { job_id } = await engine.submit("naps", { name: "small", ...small });
  await engine.wait(job_id);
  const [times] = await db.sql<{ started_s: number; ended_s: number }>`
    select extract(epoch from started_at - created_at)::float8 as started_s, extract(epoch from finished_at - created_at)::float8 as ended_s
      from app.jobs where job_id = ${job_id}`;
  const progress = await db.sql<{ completed: number }>`
    select coalesce(p.completed, 0)::integer as completed
      from app.stages s left join app.stage_progress p using (stage_id) where s.job_id <> ${job_id}`;
  const { released } = worker.stats();
  await worker.kill();
  return { shop, ...times!, wide_completed: progress.map(({ completed }) => completed), released };
}
