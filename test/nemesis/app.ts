// What the processes under attack run: a wide stage and a fold, whose handlers write down what they do in a file of their own. While
// the file `outage` is there, whatever a handler calls is away.
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { Transient } from "../../src/core/errors/errors.js";

const dir = process.env.NEMESIS_DIR ?? ".";
const note = (...words: unknown[]) => appendFileSync(join(dir, `effects-${process.pid}`), `${words.join(" ")}\n`);

export default {
  jobs: [
    defineJob({
      type: "ledger",
      stages: [
        {
          name: "items",
          task: "nemesis.item",
          tasks: {
            count: "{parameters.n}",
            parameters: { name: "{parameters.name}", i: "{ordinal}", ms: "{parameters.ms}" },
          },
        },
        { name: "sum", task: "nemesis.sum", parallelism: "fan_in" },
      ],
    }),
  ],
  handlers: [
    defineHandler("nemesis.item", {}, async ({ name, i, ms }) => {
      if (existsSync(join(dir, "outage"))) throw new Transient("what it calls is away");
      await sleep(ms);
      note(name, i);
      return { value: i + 1 };
    }),
    defineHandler("nemesis.sum", {}, async (_, ctx) => {
      let total = 0;
      for await (const { result } of ctx.previous) total += (result as { value: number }).value;
      return { total };
    }),
  ],
};
