// The job of the story: tiles that each need an input file, each shaded, merged by the hundred, and one mosaic of all.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { defineHandler, defineJob, type Handler } from "../../src/core/declare/declare.js";
import { Permanent } from "../../src/core/errors/errors.js";
import type { TaskContext } from "../../src/core/task/context.js";
import type { Recorder } from "./effects.js";

export const mosaic_job = defineJob({
  type: "mosaic",
  parameters: z.object({ tiles: z.int(), inputs: z.string(), ms: z.number() }),
  stages: [
    { name: "tile", task: "mosaic.tile", tasks: { count: "{parameters.tiles}" }, failure_budget: { count: 10 } },
    { name: "shade", task: "mosaic.shade", parallelism: "match_previous" },
    { name: "merge", task: "mosaic.merge", parallelism: "fan_in", batch: 100 },
    { name: "mosaic", task: "mosaic.mosaic", parallelism: "fan_in" },
  ],
});

type Given = { inputs: string; ms: number };

export const inputName = (ordinal: number) => `scene-${String(ordinal).padStart(4, "0")}.txt`;

export function mosaicHandlers(record: Recorder): Handler[] {
  const handler = (name: string, work: (given: Given, ctx: TaskContext) => Promise<number>) =>
    defineHandler(name, {}, async (_, ctx) => {
      const { run, end } = record(ctx);
      try {
        const value = await work(ctx.job!.parameters as Given, ctx);
        end("returned");
        return { run, value };
      } catch (error) {
        end("threw");
        throw error;
      }
    });
  return [
    handler("mosaic.tile", async ({ inputs, ms }, ctx) => {
      await sleep(ms, undefined, { signal: ctx.signal });
      const name = inputName(ctx.ordinal);
      const text = await readFile(join(inputs, name), "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") throw error;
        throw new Permanent(`there is no input ${name}`, { code: "input_missing" });
      });
      return Number(text);
    }),
    handler("mosaic.shade", async (_, ctx) => {
      const before = await ctx.predecessor<{ value: number }>();
      return before!.result!.value * 2;
    }),
    handler("mosaic.merge", (_, ctx) => sum(ctx)),
    handler("mosaic.mosaic", (_, ctx) => sum(ctx)),
  ];
}

async function sum(ctx: TaskContext): Promise<number> {
  let total = 0;
  for await (const { result } of ctx.previous) total += result.value;
  return total;
}
