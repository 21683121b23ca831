// Jobs of other shapes than job.ts has: very wide ones, pairs, sizes at the limits. Their handlers leave the same traces.
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { defineHandler, defineJob, type Handler, type PlannedTask } from "../../src/core/declare/declare.js";
import { Permanent } from "../../src/core/errors/errors.js";
import type { TaskContext } from "../../src/core/task/context.js";
import type { Recorder } from "./effects.js";

/** As many tasks as asked for, planned by a function, and one that folds them. */
export const wide_job = defineJob({
  type: "wide",
  parameters: z.object({ n: z.int() }),
  stages: [
    {
      name: "make",
      task: "wide.make",
      tasks: function* ({ parameters: { n } }) {
        for (let k = 0; k < n; k++) yield { index: `part-${k}`, parameters: { k } };
      },
    },
    { name: "fold", task: "wide.fold", parallelism: "fan_in" },
  ],
});

/** Two tasks that end at the same moment, and what follows them. */
export const pairs_job = defineJob({
  type: "pairs",
  parameters: z.object({ n: z.int() }),
  stages: [
    { name: "pair", task: "pairs.one", tasks: { count: 2 } },
    { name: "next", task: "pairs.next" },
  ],
});

/** Takes whatever it is given. */
export const loose_job = defineJob({ type: "loose", stages: [{ name: "only", task: "loose.take" }] });

const sized = z.object({
  /** Bytes of JSON that each task of the first stage returns. */
  results: z.array(z.int()).default([]),
  /** Bytes of the parameters of each planned task of the second stage. */
  parameters: z.array(z.int()).default([]),
  /** A result of very many keys, or deeper than anybody can store. */
  odd: z.enum(["no", "keys", "depth"]).default("no"),
});

/** Results and planned parameters of exact sizes; the last stage reads all that came of them. */
export const sized_job = defineJob({
  type: "sized",
  parameters: sized,
  stages: [
    {
      name: "make",
      task: "sized.make",
      max_attempts: 1,
      tasks: ({ parameters: { results } }) => results.map((bytes, k) => ({ index: `r${k}`, parameters: { bytes } })),
    },
    {
      name: "given",
      task: "sized.given",
      parallelism: "fan_out",
      tasks: ({ parameters: { parameters } }) =>
        parameters.map((bytes, k): PlannedTask => ({ index: `p${k}`, parameters: ofBytes(bytes) })),
    },
    { name: "read", task: "sized.read", parallelism: "fan_in", after: ["make", "given"], of: "make" },
  ],
});

/** An object whose JSON has so many bytes. */
export function ofBytes(bytes: number): { text: string } {
  return { text: "x".repeat(bytes - '{"text":""}'.length) };
}

export function manyKeys(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, k) => [`k${k}`, k]));
}

export function deep(levels: number): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let k = 1; k < levels; k++) value = { value };
  return value;
}

type Work = (parameters: Record<string, unknown>, ctx: TaskContext, run: string) => unknown;

export function shapeHandlers(record: Recorder): Handler[] {
  const handler = (name: string, work: Work) =>
    defineHandler(name, {}, async (parameters, ctx) => {
      const { run, end } = record(ctx);
      try {
        const made = await work(parameters as Record<string, unknown>, ctx, run);
        end("returned");
        return made;
      } catch (error) {
        end("threw");
        throw error;
      }
    });
  return [
    handler("wide.make", (parameters, _, run) => ({ run, value: parameters.k })),
    handler("wide.fold", async (parameters, ctx, run) => {
      let value = 0;
      let count = 0;
      for await (const { result } of ctx.previous) {
        value += result.value;
        count++;
      }
      return { run, value, count, parameter_bytes: JSON.stringify(parameters).length };
    }),
    handler("pairs.one", async (_, __, run) => {
      await nextTick();
      return { run };
    }),
    handler("pairs.next", (_, __, run) => ({ run })),
    handler("loose.take", (parameters, _, run) => ({ run, bytes: Buffer.byteLength(JSON.stringify(parameters)) })),
    handler("sized.make", (parameters, ctx, run) => {
      const { odd } = ctx.job!.parameters as z.output<typeof sized>;
      if (odd === "keys") return { run, ...manyKeys(200_000) };
      if (odd === "depth") return deep(10_000);
      const bare = { run, text: "" };
      return { run, text: "x".repeat((parameters.bytes as number) - JSON.stringify(bare).length) };
    }),
    handler("sized.given", (parameters, _, run) => ({ run, bytes: JSON.stringify(parameters).length })),
    handler("sized.read", async (_, ctx, run) => {
      const bytes: number[] = [];
      for await (const { result } of ctx.previous("make")) bytes.push(JSON.stringify(result).length);
      const given: number[] = [];
      for await (const { result } of ctx.previous("given")) given.push(result.bytes);
      return { run, bytes, given };
    }),
    // Of jobs that are data: as many of their tasks fail as the job's parameters say.
    handler("policy.work", (_, ctx, run) => {
      if (ctx.ordinal < (ctx.job!.parameters.fails as number) && ctx.stage === "fan")
        throw new Permanent("made to fail");
      return { run };
    }),
    handler("lone.held", async (parameters, _, run) => {
      while (!existsSync(parameters.until as string)) await sleep(20);
      return { run };
    }),
  ];
}

/** By the clock that all processes of a machine share, so that tasks of several processes end together. */
async function nextTick(): Promise<void> {
  const tick_ms = 25;
  const now_ms = Number(process.hrtime.bigint()) / 1e6;
  await sleep(tick_ms - (now_ms % tick_ms));
}
