// Outages in real time, with the settings everybody has: what a handler calls is away for a minute, backends are killed eight
// a second for a minute, and the folder of spilled results is full for a quarter of one. No job fails, and nobody helps.
import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { isConnectionLost } from "../../src/engine/database/lost_connection.js";
import type { SubmitReply } from "../../src/engine/verbs/records.js";
import { openShop, type TestShop } from "../worker/shop.js";

/** Not what tests are told otherwise (vitest.config.ts). */
const usual = { retry: {} };
const many = (type: string, task: string, count: number) =>
  defineJob({ type, parameters: z.object({ n: z.int().default(0) }), stages: [{ name: "s", task, tasks: { count } }] });

async function tell(what: string, { db }: TestShop, more: object): Promise<void> {
  const [row] = await db.sql<object>`
    select count(*) filter (where outcome = 'failed')::int as failed, count(*) filter (where outcome = 'released')::int as released,
      max(attempt)::int as last_attempt from app.attempts`;
  process.stdout.write(`${what}: ${JSON.stringify({ ...row, ...more })}\n`);
}

test("200 tasks whose handler fails for 60 s complete without a person", async () => {
  const back_at = performance.now() + 60_000;
  const calls = defineHandler("calls", {}, () => {
    if (performance.now() < back_at) throw new Error("the service does not answer");
  });
  const shop = await openShop({ jobs: [many("outage", "calls", 200)], handlers: [calls] });
  await shop.worker(usual);
  const { job_id } = await shop.engine.submit("outage", {});
  const end = await shop.engine.wait(job_id);
  await tell("outage of 60 s", shop, { after_s: Math.round((performance.now() - back_at) / 1000) });
  expect(end).toMatchObject({ status: "completed", stages: [{ completed: 200, failed: 0 }] });
});

test("eight backends killed a second for 60 s fail no job", async () => {
  const writes = defineHandler("writes", {}, async (_, ctx) => {
    await ctx.db((session) => session.sql`select pg_sleep(0.02)`);
  });
  const folds = defineHandler("folds", {}, async (_, ctx) => (await ctx.previous.all()).length);
  const job = defineJob({
    type: "wide",
    parameters: z.object({ n: z.int() }),
    stages: [
      {
        name: "item",
        task: "writes",
        tasks: async function* () {
          for (let at = 0; at < 60; at++) yield { index: `item-${at}`, parameters: { at } };
        },
      },
      { name: "again", task: "writes", parallelism: "match_previous" },
      { name: "fold", task: "folds", parallelism: "fan_in" },
    ],
  });
  const shop = await openShop({ jobs: [job], handlers: [writes, folds] });
  for (let n = 0; n < 3; n++) await shop.worker({ ...usual, slots: 4, burst_connections: 2 });
  const over = performance.now() + 60_000;
  let killed = 0;
  const killing = (async () => {
    while (performance.now() < over) {
      const [row] = await shop.db.sql<{ n: number }>`
        select count(*) filter (where pg_terminate_backend(pid))::int as n
          from (select pid from pg_stat_activity
                 where datname = current_database() and application_name ~ '^fanfold (?!test)' order by random() limit 1) v`;
      killed += row!.n;
      await sleep(125);
    }
  })();
  const jobs: string[] = [];
  for (let n = 0; performance.now() < over; n++) {
    jobs.push((await patiently(() => shop.engine.submit("wide", { n }))).job_id);
    await sleep(500);
  }
  await killing;
  const ends: string[] = [];
  for (const job_id of jobs) ends.push((await shop.engine.wait(job_id)).status);
  await tell("killed backends", shop, { killed, jobs: jobs.length });
  expect(ends).toEqual(jobs.map(() => "completed"));
});

async function patiently(submit: () => Promise<SubmitReply>): Promise<SubmitReply> {
  for (;;) {
    try {
      return await submit();
    } catch (error) {
      if (!isConnectionLost(error)) throw error;
    }
  }
}

test("a folder of spilled results that is full for 15 s fails nothing", async (context) => {
  const large = defineHandler("large", {}, (_, ctx) => ({ index: ctx.index, text: "x".repeat(1_200_000) }));
  const job = defineJob({
    type: "spills",
    stages: [{ name: "s", task: "large", tasks: { count: 12 }, max_attempts: 1 }],
  });
  const shop = await openShop({ jobs: [job], handlers: [large] });
  const { storage_dir } = shop;
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", storage_dir], { stdio: "pipe" });
  } catch {
    context.skip("this machine lets nobody mount a small disk");
  }
  onTestFinished(() => void execFileSync("umount", ["-l", storage_dir]));
  await shop.worker(usual);
  const { job_id } = await shop.engine.submit("spills", {});
  await sleep(15_000);
  expect((await shop.engine.status(job_id)).status).toBe("processing");
  execFileSync("mount", ["-o", "remount,size=64m", storage_dir]);
  const end = await shop.engine.wait(job_id);
  await tell("full for 15 s", shop, {});
  expect(end).toMatchObject({ status: "completed", stages: [{ completed: 12, failed: 0 }] });
});
