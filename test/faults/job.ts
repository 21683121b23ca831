// The job that faults happen to: 200 tasks (500 in the soak run), the same again one by one, sums of 50, one total. Every task returns the
// name of its execution beside its value, so that a result can be traced to the one run that made it; the total is right
// only if every task counted exactly once.
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { defineHandler, defineJob, type Handler } from "../../src/core/declare/declare.js";
import { Transient } from "../../src/core/errors/errors.js";
import type { TaskContext } from "../../src/core/task/context.js";
import type { Recorder } from "./effects.js";

const hold = z.object({
  stage: z.string(),
  ordinals: z.array(z.int()),
  /** A file: the task ends when it is there. */
  until: z.string(),
  /** Go on although asked to stop, as a zombie does. */
  stubborn: z.boolean().default(false),
});

/** As wide as it takes for a fault to happen in the middle of it. */
export const usual_tasks = process.env.FANFOLD_TEST_SOAK ? 500 : 200;

const parameters = z.object({
  n: z.int().default(usual_tasks),
  /** What tells two jobs of a test apart. */
  name: z.string().default("job"),
  /** How long a task of the wide stages takes, on average. */
  ms: z.number().default(20),
  /** Every so many tasks of the first stage fail once, and count as an attempt. */
  fail_every: z.int().default(0),
  /** Every so many tasks of the first stage return more than the database takes, so that their result goes to storage. */
  spill_every: z.int().default(0),
  /** Tasks of the first stage write a line to their log. */
  log: z.boolean().default(false),
  /** Leaves a row per task in public.effects, once per effect_key. */
  mark: z.boolean().default(false),
  hold: hold.optional(),
});

export type ChainParameters = z.input<typeof parameters>;

export const chain_job = defineJob({
  type: "chain",
  parameters,
  stages: [
    { name: "make", task: "chain.make", tasks: { count: "{parameters.n}" } },
    { name: "double", task: "chain.double", parallelism: "match_previous" },
    { name: "sum", task: "chain.sum", parallelism: "fan_in", batch: 50 },
    { name: "total", task: "chain.total", parallelism: "fan_in" },
  ],
});

export const stage_names = ["make", "double", "sum", "total"] as const;

/** Of all stages together. */
export function taskCount(n = usual_tasks): number {
  return 2 * n + Math.ceil(n / 50) + 1;
}

/** The sum over k in 1…n of 2k. */
export function expectedTotal(n = usual_tasks): number {
  return n * (n + 1);
}

type Work = (given: z.output<typeof parameters>, ctx: TaskContext) => Promise<{ value: number; padding?: string }>;

export function chainHandlers(record: Recorder): Handler[] {
  const handler = (name: string, work: Work) =>
    defineHandler(name, {}, async (_, ctx) => {
      const { run, end } = record(ctx);
      const given = ctx.job!.parameters as z.output<typeof parameters>;
      try {
        if (given.mark) await mark(ctx);
        await held(given, ctx);
        const made = await work(given, ctx);
        end("returned");
        return { run, ...made };
      } catch (error) {
        end("threw");
        throw error;
      }
    });
  return [
    handler("chain.make", async (given, ctx) => {
      if (given.log) ctx.log.info("runs");
      await pause(given.ms, ctx);
      if (every(given.fail_every, ctx) && ctx.attempt === 1) throw new Transient("fails once");
      const padding = every(given.spill_every, ctx) ? "x".repeat(1024 * 1024) : undefined;
      return { value: ctx.ordinal + 1, padding };
    }),
    handler("chain.double", async (given, ctx) => {
      const before = await ctx.predecessor<{ value: number }>();
      await pause(given.ms, ctx);
      return { value: before!.result!.value * 2 };
    }),
    handler("chain.sum", async (_, ctx) => ({ value: await sum(ctx) })),
    handler("chain.total", async (_, ctx) => ({ value: await sum(ctx) })),
    // Stands alone, without a job.
    defineHandler("lone", {}, (_, ctx) => {
      const { run, end } = record(ctx);
      end("returned");
      return { run };
    }),
  ];
}

async function sum(ctx: TaskContext): Promise<number> {
  let total = 0;
  for await (const { result } of ctx.previous) total += result.value;
  return total;
}

/** Between half and one and a half times as long, by the ordinal: alike in every run. */
function pause(ms: number, ctx: TaskContext): Promise<void> {
  return sleep(ms * (0.5 + ((ctx.ordinal * 7919) % 100) / 100), undefined, { signal: ctx.signal });
}

async function held({ hold: at }: z.output<typeof parameters>, ctx: TaskContext): Promise<void> {
  if (at === undefined || at.stage !== ctx.stage || !at.ordinals.includes(ctx.ordinal)) return;
  const { signal } = at.stubborn ? new AbortController() : ctx;
  while (!existsSync(at.until)) await sleep(20, undefined, { signal });
}

async function mark(ctx: TaskContext): Promise<void> {
  await ctx.db(
    (session) => session.sql`
    insert into public.effects (effect_key) values (${ctx.effect_key}) on conflict (effect_key) do nothing`,
  );
}

function every(number: number, ctx: TaskContext): boolean {
  return number > 0 && ctx.ordinal % number === 0;
}
