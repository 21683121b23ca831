// The five failure modes of the user's own documents, with their own numbers: what happened there must not happen here.
import { expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Permanent } from "../../src/core/errors/errors.js";
import { openShop } from "./shop.js";

const COGS = 1924;
/** About 570 bytes each: 1,924 of them are the 1.09 MB that broke the queue. */
const item = (n: number) => ({ id: `n${n}`, href: `silver/cogs/${n}.tif`, properties: { note: "x".repeat(500) } });

const make = defineHandler("fm.cog", {}, (_, ctx) => item(ctx.ordinal));

/** A pipeline of three stages as in the documents; what a stage does is the test's to say. */
function pipeline(register: ReturnType<typeof defineHandler>, batch?: number) {
  const inventory = defineHandler("fm.inventory", {}, () => ({ files: COGS }));
  return {
    handlers: [inventory, make, register],
    jobs: [
      defineJob({
        type: "fathom",
        stages: [
          { name: "inventory", task: "fm.inventory" },
          { name: "band_stack", task: "fm.cog", tasks: { count: COGS } },
          {
            name: "stac_register",
            task: register.name,
            parallelism: "fan_in",
            batch,
            description: "STAC registration",
          },
        ],
      }),
    ],
  };
}

test("failure mode 1, a fan-in over the message limit: 1,924 results of 1.09 MB reach the fold by reference", async () => {
  const seen: { bytes: number; items: number; parameters: number }[] = [];
  const register = defineHandler("fm.register", {}, async (parameters, ctx) => {
    let [bytes, items] = [0, 0];
    for await (const { result } of ctx.previous) {
      bytes += JSON.stringify(result).length;
      items++;
    }
    seen.push({ bytes, items, parameters: JSON.stringify(parameters).length });
    return { items };
  });
  const shop = await openShop(pipeline(register));
  const { job_id } = await shop.engine.submit("fathom", {});
  await shop.worker();
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed", result: { items: COGS } });
  expect(seen[0]).toMatchObject({ items: COGS });
  expect(seen[0]!.bytes).toBeGreaterThan(1_000_000);
  expect(seen[0]!.parameters).toBeLessThan(100);
  const [row] = await shop.db.sql<{ bytes: number }>`
    select coalesce(max(octet_length(t.parameters::text)), 0)::int as bytes
      from app.tasks t join app.stages s using (stage_id) where s.name = 'stac_register'`;
  expect(row!.bytes).toBeLessThan(1024);
});

test("failure mode 2, stuck pending: what cannot be queued fails at once and says why, and nothing waits for ever", async () => {
  const work = defineHandler("fm.work", {}, () => ({}));
  const big = defineJob({
    type: "big",
    stages: [
      { name: "first", task: "fm.work" },
      {
        name: "too_big",
        task: "fm.work",
        parallelism: "fan_out",
        tasks: () => [{ parameters: { small: true } }, { index: "huge", parameters: { blob: "x".repeat(300_000) } }],
      },
    ],
  });
  const shop = await openShop({ jobs: [big], handlers: [work] });
  const { job_id } = await shop.engine.submit("big", {});
  await shop.worker();
  const status = await shop.engine.wait(job_id);
  expect(status).toMatchObject({
    status: "failed",
    error: { stage: "too_big", message: expect.stringMatching(/huge.*\d{6}.*262144|262144/s) },
    stages: [{ status: "completed" }, { status: "failed", queued: 0, processing: 0 }],
  });
});

test("failure mode 3, idempotency that blocks a retry: submitting again says how to go on, and resume or force do", async () => {
  let broken = true;
  const runs: number[] = [];
  const register = defineHandler("fm.register", {}, () => {
    runs.push(runs.length);
    if (broken) throw new Permanent("the catalogue is down");
    return { items: COGS };
  });
  const shop = await openShop(pipeline(register));
  const { job_id } = await shop.engine.submit("fathom", {});
  await shop.worker();
  await shop.engine.wait(job_id);
  const again = await shop.engine.submit("fathom", {});
  expect(again).toMatchObject({ job_id, created: false, resumed: false, status: "failed" });
  expect(again.hint).toContain(`fanfold resume ${job_id.slice(0, 12)}`);
  broken = false;
  expect(await shop.engine.submit("fathom", {}, { mode: "resume" })).toMatchObject({ job_id, resumed: true, epoch: 2 });
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed", resume_count: 1 });
  expect(runs.length).toBe(2);
  const forced = await shop.engine.submit("fathom", {}, { mode: "force" });
  expect(forced).toMatchObject({ created: true, run: 2 });
  expect(forced.job_id).not.toBe(job_id);
  // The audit trail the documents lost with cleanup?days=0: the first run and its failure are still there.
  const kinds = (await shop.engine.events(job_id)).map(({ kind }) => kind);
  expect(kinds).toEqual(expect.arrayContaining(["job.failed", "job.resumed", "job.completed"]));
  await shop.engine.wait(forced.job_id);
});

test("failure mode 4, a fan-in as a single point of failure: one bad batch costs one batch", async () => {
  let broken = true;
  const registered: number[] = [];
  const register = defineHandler("fm.register", {}, async (_, ctx) => {
    let items = 0;
    for await (const _item of ctx.previous) items++;
    if (broken && ctx.ordinal === 19) throw new Permanent("item 1900 is malformed");
    registered.push(ctx.ordinal);
    return { items };
  });
  const shop = await openShop(pipeline(register, 100));
  const { job_id } = await shop.engine.submit("fathom", {});
  await shop.worker();
  expect(await shop.engine.wait(job_id)).toMatchObject({
    status: "failed",
    stages: [{}, { completed: COGS }, { total: 20, completed: 19, failed: 1 }],
  });
  broken = false;
  registered.length = 0;
  await shop.engine.operate.resume(job_id);
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed" });
  expect(registered).toEqual([19]);
});

test("failure mode 5, no checkpoint: the status knows what succeeded, and only the failed stage runs again", async () => {
  let broken = true;
  const register = defineHandler("fm.register", {}, () => {
    if (broken) throw new Permanent("Message exceeds 256KB limit");
    return {};
  });
  const shop = await openShop(pipeline(register));
  const { job_id } = await shop.engine.submit("fathom", {});
  await shop.worker();
  const failed = await shop.engine.wait(job_id);
  expect(failed).toMatchObject({
    resumable: true,
    resume_from_stage: 3,
    resume_hint: `fanfold resume ${job_id.slice(0, 12)}`,
  });
  expect(failed.outcomes).toMatchObject([
    { stage: "inventory", status: "succeeded", completed: 1, recovery: null },
    { stage: "band_stack", status: "succeeded", completed: COGS },
    {
      objective: "STAC registration",
      status: "failed",
      error: { message: "Message exceeds 256KB limit" },
      recovery: failed.resume_hint,
    },
  ]);
  const finished = await shop.db
    .sql`select stage_id, ordinal, finished_at from app.results where status = 'completed' order by 1, 2`;
  expect(finished.length).toBe(COGS + 1);
  broken = false;
  expect(await shop.engine.operate.resume(job_id)).toMatchObject({ from_stage: 3, again: 1 });
  await shop.engine.wait(job_id);
  const after = await shop.db
    .sql`select stage_id, ordinal, finished_at from app.results where status = 'completed' order by 1, 2`;
  expect(after.slice(0, finished.length)).toEqual(finished);
});
