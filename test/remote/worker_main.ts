// The remote worker of the fault suite in TypeScript: told by the environment where to work, with the handlers that every worker under this suite has.
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startRemoteWorker } from "../../src/client/worker.js";
import { defineHandler } from "../../src/core/declare/declare.js";
import type { TaskContext } from "../../src/core/task/context.js";

const {
  FANFOLD_URL = "",
  FANFOLD_KEY = "",
  FANFOLD_SLOTS = "4",
  FANFOLD_LEASE_S = "5",
  FANFOLD_EFFECTS = "",
} = process.env;

const note = (what: string, n: number, ctx: TaskContext, more = "") =>
  appendFileSync(FANFOLD_EFFECTS, `${what} ${n} ${ctx.attempt} ${process.pid}${more}\n`);

async function until(gate: string, signal: AbortSignal): Promise<void> {
  while (!existsSync(gate)) await sleep(20, undefined, { signal });
}

const step = defineHandler("fault.step", {}, async ({ n, ms }, ctx) => {
  note("start", n, ctx);
  await sleep(ms, undefined, { signal: ctx.signal });
  note("end", n, ctx);
  return { n };
});

const hold = defineHandler("fault.hold", {}, async ({ n, gate }, ctx) => {
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

const publish = defineHandler("fault.publish", {}, async ({ n, bytes, gate }, ctx) => {
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
const block = defineHandler("fault.block", {}, ({ n, ms, mark }, ctx) => {
  note("start", n, ctx);
  const over = performance.now() + (existsSync(mark) ? 0 : ms);
  writeFileSync(mark, "");
  // Asleep, loop and all: nobody else's processor is used up.
  while (performance.now() < over) Atomics.wait(asleep, 0, 0, 100);
  note("end", n, ctx);
  return { n };
});
const asleep = new Int32Array(new SharedArrayBuffer(4));

const sum = defineHandler("fault.sum", {}, async (_, ctx) => {
  let [total, count] = [0, 0];
  for await (const { result } of ctx.previous) {
    total += (result as { n: number }).n;
    count++;
  }
  return { sum: total, count };
});

const worker = await startRemoteWorker({
  url: FANFOLD_URL,
  key: FANFOLD_KEY,
  handlers: [step, hold, publish, block, sum],
  slots: Number(FANFOLD_SLOTS),
  lease_s: Number(FANFOLD_LEASE_S),
  wait_s: 2,
  abort_grace_s: 1,
});
process.stdout.write("ready\n");
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.once(signal, () => {
    process.once(signal, () => process.exit(130));
    void worker.stop().then(() => process.exit(0));
  });
}
