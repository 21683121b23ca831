// Small jobs to race about: one whose last finish ends it, and one whose plan is made by code in several pages.
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { defineHandler, defineJob, type Handler } from "../../src/core/declare/declare.js";
import type { Recorder } from "./effects.js";

/** A page is sent at 4 MB; so many tasks of this size are three. */
const task_bytes = 200_000;
export const tasks_of_pages = 60;

export const race_job = defineJob({
  type: "race",
  parameters: z.object({
    name: z.string(),
    n: z.int(),
    /** A file: tasks end when it is there. */
    until: z.string(),
  }),
  stages: [{ name: "wait", task: "race.wait", tasks: { count: "{parameters.n}" } }],
});

export const pages_job = defineJob({
  type: "pages",
  parameters: z.object({ name: z.string() }),
  stages: [
    { name: "seed", task: "race.page" },
    {
      name: "page",
      task: "race.page",
      parallelism: "fan_out",
      tasks: function* () {
        for (let n = 0; n < tasks_of_pages; n++)
          yield { index: `t${n}`, parameters: { n, padding: "x".repeat(task_bytes) } };
      },
    },
    { name: "count", task: "race.count", parallelism: "fan_in" },
  ],
});

export function raceHandlers(record: Recorder): Handler[] {
  return [
    defineHandler("race.wait", {}, async (_, ctx) => {
      const { run, end } = record(ctx);
      const { until } = ctx.job!.parameters as { until: string };
      try {
        // It does not look at ctx.signal: what it returns meets what became of its task meanwhile.
        while (!existsSync(until)) await sleep(5);
      } finally {
        end("returned");
      }
      return { run };
    }),
    defineHandler("race.page", {}, (_, ctx) => {
      const { run, end } = record(ctx);
      end("returned");
      return { run, value: 1 };
    }),
    defineHandler("race.count", {}, async (_, ctx) => {
      const { run, end } = record(ctx);
      let value = 0;
      for await (const { result } of ctx.previous) value += result.value;
      end("returned");
      return { run, value };
    }),
  ];
}
