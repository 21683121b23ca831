// Jobs that fail, fail in part, or wait for a file: what the tests of the command line need to see.
import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare.js";
import { Permanent } from "../../src/core/errors.js";

const failing = defineHandler(
  "fixture.fail",
  { parameters: z.object({ message: z.string() }) },
  async ({ message }) => {
    throw new Permanent(message, { code: "meant_to_fail" });
  },
);

const sometimes = defineHandler(
  "fixture.sometimes",
  { parameters: z.object({ number: z.int() }) },
  async ({ number }) => {
    if (number === 0) throw new Permanent("the first one always fails");
    return { number };
  },
);

const waiting = defineHandler("fixture.wait", { parameters: z.object({ gate: z.string() }) }, async ({ gate }, ctx) => {
  while (!existsSync(gate)) await pause(10, null, { signal: ctx.signal });
  return { opened: true };
});

export default {
  jobs: [
    defineJob({
      type: "fixture_fail",
      parameters: z.object({ message: z.string().default("broken on purpose") }),
      stages: [{ name: "work", task: "fixture.fail" }],
    }),
    defineJob({
      type: "fixture_partial",
      parameters: z.object({ n: z.int().default(4) }),
      stages: [
        {
          name: "work",
          task: "fixture.sometimes",
          failure_budget: { count: 1 },
          tasks: { count: "{parameters.n}", index: "part-{ordinal}", parameters: { number: "{ordinal}" } },
        },
      ],
    }),
    defineJob({
      type: "fixture_wait",
      parameters: z.object({ gate: z.string() }),
      stages: [{ name: "work", task: "fixture.wait" }],
    }),
  ],
  handlers: [failing, sometimes, waiting],
};
