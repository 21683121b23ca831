// Handlers of a worker over HTTP, each twice: in its process (in.…) and in one of its own (apart.…), which imports this file.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { declareEffect } from "../../src/client/effects.js";
import { defineHandler, type Handler } from "../../src/core/declare/declare.js";
import { Permanent } from "../../src/core/errors/errors.js";
import type { Loose, TaskContext } from "../../src/core/task/context.js";

const bodies: Record<string, (parameters: Loose, ctx: TaskContext) => unknown> = {
  async files(_, ctx) {
    const dir = await ctx.scratch();
    const from = join(dir, "in.bin");
    const { bytes } = await ctx.zones.download({ zone: "bronze", key: "in.bin" }, from);
    const asset = await ctx.zones.publish(from, { zone: "silver", prefix: "made", name: "out.bin", media_type: "x/y" });
    declareEffect(ctx, { effect: "enqueue", task_type: "in.values", tasks: [{ parameters: { from: ctx.task_type } }] });
    return { bytes, name: asset.name, sha256: asset.sha256 };
  },
  async told(_, ctx) {
    const secret = await ctx.secret("token");
    ctx.log.info(`it is ${secret}`, { of: secret });
    ctx.progress(0.5, "half");
    ctx.deliver({ name: "greetings" });
    ctx.next_stage_params({ with: secret });
    return { secret, attempt: ctx.attempt, tenant: ctx.tenant_id, effect_key: ctx.effect_key.length };
  },
  values: (parameters) => ({ ...parameters, list: [1, null, "x"] }),
  large: () => "x".repeat(9_000_000),
  not_a_number: () => ({ at: Number.NaN }),
  throws: () => {
    throw new Permanent("no such place", { code: "no_place" });
  },
  db: (_, ctx) => ctx.db(async (session) => session.sql`select 1`),
  storage: async (_, ctx) => {
    const ref = await ctx.storage.put("a/b", "kept");
    return { key: ref.key, text: (await ctx.storage.get(ref)).toString() };
  },
  outside: async (_, ctx) => {
    await ctx.scratch();
    await ctx.zones.publish("/etc/hostname", { zone: "silver", prefix: "p", name: "n", media_type: "x/y" });
  },
  slow: async (_, ctx) => sleep(60_000, undefined, { signal: ctx.signal }),
  environment: () => ({
    key: process.env.FANFOLD_KEY,
    own: process.env.ITS_OWN,
    values: Object.values(process.env).filter((value) => value?.includes("ff_")),
  }),
  async fold(_, ctx) {
    const before: string[] = [];
    for await (const { index, result, next_stage_params } of ctx.previous("made"))
      before.push(`${index} ${result.length} ${next_stage_params?.from}`);
    return { before, matched: (await ctx.previous("match").all()).length };
  },
  made: (_, ctx) => {
    ctx.next_stage_params({ from: ctx.index });
    return "y".repeat(ctx.index === "b" ? 1_500_000 : 10);
  },
  async match(_, ctx) {
    const found = await ctx.predecessor();
    return { length: found?.result.length, status: found?.status };
  },
  stays,
  stays_too: stays,
  bad_effect: (_, ctx) => {
    declareEffect(ctx, { effect: "enqueue", task_type: "in.values", tasks: [] });
  },
  bad_hand_over: (_, ctx) => {
    ctx.next_stage_params("words" as never);
  },
  stuck: () => {
    for (;;) Atomics.wait(asleep, 0, 0, 1000);
  },
};
/** From when to when it ran, by the machine's clock. */
async function stays({ until, ms = 0 }: Loose) {
  const from = Number(process.hrtime.bigint() / 1000n);
  await sleep(ms);
  while (until !== undefined && !existsSync(until)) await sleep(10);
  return { from, to: Number(process.hrtime.bigint() / 1000n) };
}

const asleep = new Int32Array(new SharedArrayBuffer(4));

const timeouts: Record<string, number> = { slow: 1, stuck: 1 };
const own = { isolation: "process", module: import.meta.url, memory_mb: 256 } as const;

export const handlers: Handler[] = Object.entries(bodies).flatMap(([name, body]) => {
  const limits = timeouts[name] === undefined ? {} : { timeout_s: timeouts[name] };
  return [defineHandler(`in.${name}`, limits, body), defineHandler(`apart.${name}`, { ...limits, ...own }, body)];
});
export default { handlers };
