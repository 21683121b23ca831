// The whole service behind PgBouncer in transaction mode: server, worker, a worker without a database, waiting and streaming, and the
// pooler dying in between.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { type Pooler, startPooler, withoutPgbouncer } from "../pgbouncer.js";
import { realServer } from "../postgres.js";
import { readEvents } from "./event_reader.js";
import { openService, type TestService } from "./service.js";

const why_not = await withoutPgbouncer();

const WIDTH = 300;
let half_way: () => void = () => {};
/** Called when half of a wide stage has run. */
const onHalf = () => half_way();

const each = defineHandler("p.each", {}, async (_, ctx) => {
  if (ctx.ordinal === WIDTH / 2) onHalf();
  await ctx.db((db) => db.sql`select 1`);
  return { n: ctx.ordinal };
});
const fold = defineHandler("p.fold", {}, async (_, ctx) => {
  let sum = 0;
  for await (const { result } of ctx.previous) sum += (result as { n: number }).n;
  return { sum };
});
const slow = defineHandler("p.slow", {}, (_, ctx) => {
  return new Promise((resolve) => ctx.signal.addEventListener("abort", () => resolve(null), { once: true }));
});
const jobs = [
  defineJob({
    type: "wide",
    stages: [
      { name: "seed", task: "p.lone" },
      { name: "each", task: "p.each", parallelism: "fan_out", tasks: { count: WIDTH } },
      { name: "fold", task: "p.fold", parallelism: "fan_in" },
    ],
  }),
  defineJob({ type: "slow", stages: [{ name: "wait", task: "p.slow" }] }),
];
const lone = defineHandler("p.lone", {}, () => null);

describe.skipIf(why_not !== null)(
  `a service behind a pooler${why_not === null ? "" : ` (skipped: ${why_not})`}`,
  () => {
    let pooler: Pooler;
    let service: TestService;

    beforeAll(async () => {
      pooler = await startPooler((await realServer()).admin_url);
      const parts = { jobs, handlers: [each, fold, slow, lone, defineHandler("p.remote", {}, () => null)] };
      service = await openService(parts, {}, { through: pooler.through });
    });
    afterAll(async () => {
      await service?.close();
      await pooler?.stop();
    });

    const submit = async (type: string) =>
      (await service.call("POST", `/api/jobs/submit/${type}`, { body: { parameters: {}, mode: "force" } })).body
        .job_id as string;

    test("wide jobs are folded, events are streamed, what is cancelled stops, and workers without a database are woken", async () => {
      await service.worker({ types: ["p.each", "p.fold", "p.slow", "p.lone", "#plan"], poll_s: 60 });
      expect(service.engine.db.way?.()).toMatchObject({ pooled: true, prepares: false, hears: false });
      const events = await readEvents(`${service.url}/api/stream`, { key: await service.key() });
      // With a poll every minute, only the look for new work finds it.
      const wide = await submit("wide");
      const done = await service.call("GET", `/api/jobs/${wide}?wait=true`);
      expect(done.body).toMatchObject({ status: "completed", result: { sum: (WIDTH * (WIDTH - 1)) / 2 } });
      await events.until(({ event, data }) => event === "job.completed" && data.job_id === wide);

      const hopeless = await submit("slow");
      await events.until(
        ({ event, data }) =>
          event === "progress" &&
          data.stages.some(
            (one: { job_id: string; processing: number }) => one.job_id === hopeless && one.processing === 1,
          ),
      );
      await service.call("POST", `/api/jobs/${hopeless}/cancel`, { body: {} });
      const claims = () => service.db.sql`select claim_id from app.claims`;
      await expect.poll(claims).toEqual([]);

      const registered = await service.call("POST", "/api/workers/register", {
        body: { types: ["p.remote"], slots: 1 },
      });
      const claim = (body: unknown) =>
        service.call("POST", `/api/workers/${registered.body.worker_id}/claim`, { body });
      // What it waits for is looked for: no hint need be sent for it.
      expect((await claim({ limit: 1, wait_s: 1 })).body.tasks).toEqual([]);
      expect(await service.db.sql`select from app.workers where idle`).toEqual([]);
      const waiting = claim({ limit: 1, wait_s: 20 });
      await service.engine.enqueue("p.remote", {});
      expect((await waiting).body.tasks).toHaveLength(1);
    });

    test("when the pooler dies in the middle of a wide stage, everything is done once it is back", async () => {
      await service.worker({ types: ["p.each", "p.fold", "p.lone", "#plan"], lease_s: 5 });
      const half = new Promise<void>((resolve) => {
        half_way = resolve;
      });
      const wide = await submit("wide");
      await half;
      await pooler.kill();
      await pooler.start();
      const status = async () => (await service.call("GET", `/api/jobs/${wide}`)).body;
      await expect.poll(async () => (await status()).status).toBe("completed");
      expect(await status()).toMatchObject({ result: { sum: (WIDTH * (WIDTH - 1)) / 2 } });
      const [row] = await service.db.sql<{
        found: { stages: { problems: unknown[] }[] };
      }>`select app.verify_job(${wide}, 'default') as found`;
      expect(row?.found.stages.flatMap(({ problems }) => problems)).toEqual([]);
    });
  },
);
