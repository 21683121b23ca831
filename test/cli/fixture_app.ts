// Jobs that fail, fail in part, can be mended, or wait for a file or a person: what the tests of the command line need to see.
import { existsSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Permanent } from "../../src/core/errors/errors.js";

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

// Fails until somebody puts the file there that it needs: what an operator mends.
const needing = defineHandler(
  "fixture.need",
  { parameters: z.object({ folder: z.string(), number: z.int() }) },
  async ({ folder, number }) => {
    const file = path.join(folder, `part-${number}`);
    if (existsSync(file)) return { number };
    if (number === 0) throw new Permanent("the first part is not there at all", { code: "no_first_part" });
    throw new Permanent(`part ${number} is not in ${file}`, { code: "no_part" });
  },
);

const counting = defineHandler("fixture.count", {}, async (_, ctx) => {
  let parts = 0;
  for await (const _one of ctx.previous) parts++;
  return { parts };
});

const delivering = defineHandler("fixture.deliver", {}, async (_, ctx) => {
  ctx.deliver({ name: "tiles", count: 1200, location: `s3://maps/${"deep/".repeat(30)}`, usable: false });
  ctx.deliver({ name: "index", location: "s3://maps/index\u001b[2J.json" });
  return {};
});

const nothing = defineHandler("fixture.nothing", {}, async () => ({}));

export default {
  jobs: [
    defineJob({
      type: "fixture_mend",
      parameters: z.object({ folder: z.string(), n: z.int().default(4) }),
      stages: [
        {
          name: "parts",
          task: "fixture.need",
          description: "every part is read",
          tasks: {
            count: "{parameters.n}",
            index: "part-{ordinal}",
            parameters: { folder: "{parameters.folder}", number: "{ordinal}" },
          },
        },
        { name: "whole", task: "fixture.count", parallelism: "fan_in", description: "the parts are counted" },
      ],
    }),
    defineJob({
      type: "fixture_gate",
      parameters: z.object({ name: z.string() }),
      stages: [
        { name: "draft", task: "fixture.nothing" },
        { name: "publish", task: "fixture.nothing", gate: "Publish these tiles?" },
      ],
    }),
    defineJob({
      type: "fixture_two_gates",
      stages: [
        { name: "draft", task: "fixture.nothing" },
        { name: "print", task: "fixture.nothing", after: ["draft"], gate: "Print it?" },
        { name: "send", task: "fixture.nothing", after: ["draft"], gate: "Send it?" },
      ],
    }),
    defineJob({ type: "fixture_deliver", stages: [{ name: "work", task: "fixture.deliver" }] }),
    defineJob({
      type: "fixture_optional",
      stages: [
        { name: "work", task: "fixture.nothing" },
        {
          name: "extra",
          task: "fixture.fail",
          importance: "optional",
          tasks: { count: 1, parameters: { message: "no preview" } },
        },
      ],
    }),
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
  handlers: [failing, sometimes, waiting, needing, counting, delivering, nothing],
};
