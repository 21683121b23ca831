// hello_world: the smallest job that shows two stages and how a task finds its predecessor.
import { z } from "zod";
import { defineJob } from "../core/declare/declare.js";

export const helloWorld = defineJob({
  type: "hello_world",
  description: "n greetings, then n replies that each find the greeting they answer",
  parameters: z.object({ n: z.int().min(1).max(1000).default(3).describe("how many greetings") }),
  stages: [
    {
      name: "greeting",
      task: "hello.greet",
      tasks: { count: "{parameters.n}", index: "greeting-{ordinal}", parameters: { number: "{ordinal}" } },
    },
    { name: "reply", task: "hello.reply", parallelism: "match_previous" },
  ],
});
