// The handlers that the fault suite asks of any worker, in TypeScript: a file of its own, because the processes of fault.child import it.
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { defineHandler } from "../../src/core/declare/declare.js";
import type { TaskContext } from "../../src/core/task/context.js";

const { FANFOLD_EFFECTS = "" } = process.env;

const note = (what: string, n: number, ctx: TaskContext, more = "") =>
  appendFileSync(FANFOLD_EFFECTS, `${what} ${n} ${ctx.attempt} ${process.pid}${more}\n`);

async function until(gate: string, signal: AbortSignal): Promise<void> {
  while (!existsSync(gate)) await sleep(20, undefined, { signal });
}

export const step = defineHandler("fault.step", {}, async ({ n, ms }, ctx) => {
  note("start", n, ctx);
  await sleep(ms, undefined, { signal: ctx.signal });
  note("end", n, ctx);
  return { n };
});

export const hold = defineHandler("fault.hold", {}, async ({ n, gate }, ctx) => {
  note("start", n, ctx);
  try {
    await until(gate, ctx.signal);
  } catch (error) {
    note("stopped", n, ctx);
    throw error;
  }
  note("end", n, ctx);
  return { n };
});

export const publish = defineHandler("fault.publish", {}, async ({ n, bytes, gate }, ctx) => {
  note("start", n, ctx);
  const file = join(await ctx.scratch(), "f.bin");
  await writeFile(file, Buffer.alloc(bytes, n % 256));
  const place = { zone: "silver" as const, prefix: `fault/${n}`, name: "f.bin" };
  const { key } = await ctx.zones.publish(file, { ...place, media_type: "application/octet-stream" });
  note("uploaded", n, ctx, ` ${key}`);
  if (gate !== undefined) await until(gate, ctx.signal);
  return { n, key };
});

/** Does what a handler must not, once: holds the loop. */
export const block = defineHandler("fault.block", {}, ({ n, ms, mark }, ctx) => {
  note("start", n, ctx);
  const over = performance.now() + (existsSync(mark) ? 0 : ms);
  writeFileSync(mark, "");
  // Asleep, loop and all: nobody else's processor is used up.
  while (performance.now() < over) Atomics.wait(asleep, 0, 0, 100);
  note("end", n, ctx);
  return { n };
});
const asleep = new Int32Array(new SharedArrayBuffer(4));

export const sum = defineHandler("fault.sum", {}, async (_, ctx) => {
  let [total, count] = [0, 0];
  for await (const { result } of ctx.previous) {
    total += (result as { n: number }).n;
    count++;
  }
  return { sum: total, count };
});

/** In a process of its own. What it does to its first attempt is the scenario's to say. */
export const child = defineHandler(
  "fault.child",
  { isolation: "process", module: import.meta.url, memory_mb: 200 },
  async ({ n, how, gate }, ctx) => {
    note("start", n, ctx);
    if (ctx.attempt === 1 && how === "memory" && n === 0) {
      const kept = Array.from({ length: 8 }, () => Buffer.alloc(50_000_000, 1));
      await sleep(60_000, undefined, { signal: ctx.signal });
      return { n: kept.length };
    }
    if (ctx.attempt === 1 && how === "wait") await until(gate, ctx.signal);
    note("end", n, ctx);
    return { n };
  },
);
