// Handlers that harm the process they run in, and neighbours of the same type that do not. They run in processes of their
// own, which import them from here and keep an effect log of their own.
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import type { TaskContext } from "../../src/core/task/context.js";
import { type EffectLog, openEffects } from "./effects.js";

const here = { isolation: "process", module: import.meta.url, memory_mb: 400 } as const;
const forever = () => new Promise<never>(() => {});

/** What a task of the ordinal does; its process is in the notes by then. */
const deeds = {
  throw: () => {
    throw new Error("boom");
  },
  /** With a process left behind, which would outlive it. */
  exit: (note: Note) => {
    note("child", spawn("sleep", ["600"], { stdio: "ignore" }).pid);
    process.exit(3);
  },
  abort: () => process.abort(),
  memory: () => {
    const kept: unknown[] = [];
    for (;;) kept.push(Array.from({ length: 1000 }, (_, n) => ({ n })));
  },
  loop: () => {
    for (;;);
  },
  never: forever,
  /** Returns, and fails when nobody waits for it any more. */
  reject_late: () => void setTimeout(() => void Promise.reject(new Error("too late")), 20),
  /** Would be a gigabyte. */
  flood: async () => {
    const block = `${"x".repeat(999)}\n`.repeat(1000);
    for (let n = 0; n < 1000; n++) {
      if (!process.stdout.write(block)) await new Promise((resolve) => process.stdout.once("drain", resolve));
    }
  },
  /** Returns, and leaves a process behind. */
  breed: (note: Note) => note("child", spawn("sleep", ["600"], { stdio: "ignore" }).pid),
} satisfies Record<string, (note: Note) => unknown>;

export type Deed = keyof typeof deeds;

const parameters = z.object({
  n: z.int(),
  /** By ordinal; who is not here behaves. */
  deeds: z.record(z.string(), z.enum(Object.keys(deeds) as [Deed, ...Deed[]])).default({}),
  /** A file, to which tasks write what a log line could not tell in time. */
  notes: z.string(),
});

export type Note = (what: string, pid?: number) => void;

export interface NoteLine {
  what: string;
  ordinal: number;
  pid: number;
}

function noteFor(ctx: TaskContext): Note {
  const { notes } = ctx.job!.parameters as z.output<typeof parameters>;
  return (what, pid = process.pid) =>
    appendFileSync(notes, `${JSON.stringify({ what, ordinal: ctx.ordinal, pid } satisfies NoteLine)}\n`);
}

let effects: EffectLog | undefined;

/** Opened by the first task, in whatever process that is: importing this file has no effect. */
function record(ctx: TaskContext) {
  const { FAULT_EFFECTS, FAULT_PROCESS } = process.env;
  effects ??= openEffects(FAULT_EFFECTS!, `${FAULT_PROCESS}-child${process.pid}`);
  return effects.record(ctx);
}

export const act = defineHandler("poison.act", here, async (_, ctx) => {
  const { run, end } = record(ctx);
  const note = noteFor(ctx);
  note("process");
  const deed = (ctx.job!.parameters as z.output<typeof parameters>).deeds[ctx.ordinal];
  try {
    if (deed === undefined) await sleep(20);
    else await deeds[deed](note);
  } catch (error) {
    end("threw");
    throw error;
  }
  end("returned");
  return { run, pid: process.pid };
});

/** Hears everything and obeys nothing; nor does the process it has started. */
export const deaf = defineHandler("poison.deaf", here, async (_, ctx) => {
  record(ctx);
  const note = noteFor(ctx);
  process.on("SIGTERM", () => note("SIGTERM"));
  ctx.signal.addEventListener("abort", () => note("abort"));
  note("child", spawn("sh", ["-c", "trap '' TERM; while :; do sleep 1; done"], { stdio: "ignore" }).pid);
  note("process");
  // Something has to keep the process up besides the channel.
  setInterval(() => {}, 1000);
  await forever();
});

/** More attempts than crashes a task may have, so that it is the crashes that end it. */
export const crash_job = defineJob({
  type: "crash",
  parameters,
  stages: [
    {
      name: "act",
      task: "poison.act",
      tasks: { count: "{parameters.n}" },
      max_attempts: 6,
      failure_budget: { percent: 50 },
    },
  ],
});

/** Longer than the lease of F29's worker: if the handler held its worker up, the lease would be over. */
export const hang_s = 6;

export const hang_job = defineJob({
  type: "hang",
  parameters,
  stages: [
    {
      name: "act",
      task: "poison.act",
      tasks: { count: "{parameters.n}" },
      timeout_s: hang_s,
      max_attempts: 1,
      failure_budget: { percent: 50 },
    },
  ],
});

const deafJob = (type: string, timeout_s: number) =>
  defineJob({
    type,
    parameters,
    stages: [{ name: "deaf", task: "poison.deaf", tasks: { count: "{parameters.n}" }, timeout_s, max_attempts: 1 }],
  });

export const deaf_job = deafJob("deaf", 1);
export const patient_deaf_job = deafJob("patient_deaf", 1800);
