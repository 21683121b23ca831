import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { defineHandler } from "../../src/core/declare/declare.js";
import type { Ref } from "../../src/core/places/store.js";
import { SPILL_BYTES } from "../../src/worker/finish/spill.js";
import type { TaskEnd } from "../../src/worker/finish/task_end.js";
import type { Phase } from "../../src/worker/run/attempt.js";
import { openRig } from "./rig.js";
import { gate } from "./shop.js";

const forever = defineHandler("forever", {}, () => new Promise(() => {}));
const large = defineHandler("large", {}, () => "x".repeat(SPILL_BYTES));
const writer = defineHandler("writer", {}, async (_, ctx) => {
  await ctx.db(async ({ sql }) => sql`select 1`, { with_finish: true });
  return 1;
});

function started(task_type: string, count = 1, options: Partial<Parameters<typeof openRig>[0]> = {}) {
  const sent: unknown[] = [];
  const finish = (request: unknown) => {
    sent.push(request);
    return Promise.resolve({ accepted: 1, refused: [], retried: 0, advanced: false });
  };
  const rig = openRig({ handlers: [forever, large, writer], finish, ...options });
  const claim = rig.hold(1, task_type, count);
  rig.runner.pump();
  const [ctx] = rig.runner.running;
  return { ...rig, claim, ctx: ctx!, sent };
}

const order: Phase[] = ["running", "storing", "committing", "settled", "given_up"];
const ends = ["settled", "given_up"] as const;

test.each([
  ["running", ["storing", "committing", "settled", "given_up"]],
  ["storing", ["committing", "settled", "given_up"]],
  ["committing", ["settled", "given_up"]],
  ["settled", []],
  ["given_up", []],
] as const)("a task that is %s can only go on", (phase, followers) => {
  const allowed = order.slice(1).filter((next) => {
    const { ctx } = started("forever");
    ctx.phase = phase;
    return ctx.enter(next as "settled");
  });
  expect(allowed).toEqual(followers);
});

test.each(ends)("a task that is %s stays so, whatever comes after", (end) => {
  const { ctx } = started("forever");
  expect(ctx.enter(end)).toBe(true);
  for (const other of ends) expect(ctx.enter(other)).toBe(false);
  expect(ctx.phase).toBe(end);
});

test("a task that is given up while its writes commit is ended once", async () => {
  const { passed, open } = gate();
  const commit = () => passed.then((): TaskEnd => ({ how: "committed" }));
  const { ctx, runner, claim, stats, finisher } = started("writer", 2, { commit, slots: 1 });
  await sleep(5);
  expect(ctx.phase).toBe("committing");
  ctx.abort("stopping", new Error("the worker stops"));
  runner.close();
  runner.giveUp(ctx, performance.now());
  runner.giveUp(ctx, performance.now());
  open();
  await sleep(5);
  await finisher.drained();
  expect(stats).toMatchObject({ completed: 0, released: 1, dropped: 0 });
  // Its neighbour has not started: the claim must go on being named.
  expect(claim.open).toBe(1);
});

test("a finish with writes that may have come through, or was refused, is counted as what it is", async () => {
  const results: TaskEnd[] = [{ how: "refused" }, { how: "lost", unsure: true }, { how: "committed" }];
  const { runner, stats, holdings } = started("writer", 3, { commit: async () => results.shift()! });
  await sleep(5);
  expect(stats).toMatchObject({ refused: 1, dropped: 1, completed: 1, failed: 0 });
  expect(runner.running.size).toBe(0);
  expect(holdings.claims.size).toBe(0);
});

test("a task that is lost while its result is being written is dropped, and nothing of it is sent", async () => {
  const { passed, open } = gate();
  const put = async (key: string): Promise<Ref> => {
    await passed;
    return { store: "file", key, bytes: SPILL_BYTES, sha256: "00" };
  };
  const { ctx, holdings, finisher, stats, sent } = started("large", 1, { store: { put } });
  expect(ctx.phase).toBe("storing");
  holdings.lose(1);
  open();
  await sleep(5);
  await finisher.drained();
  expect(sent).toEqual([]);
  expect(stats).toMatchObject({ dropped: 1, completed: 0, failed: 0 });
});

test("what is returned while the worker stops is finished, what is thrown then is handed back", async () => {
  const { passed, open } = gate();
  const stopped = defineHandler("stopped", {}, async (_, ctx) => {
    await passed;
    if (ctx.ordinal === 0) throw new Error("it was asked to stop");
    return 1;
  });
  const { runner, stats, finisher } = started("stopped", 2, { handlers: [stopped] });
  runner.abortAll("stopping", new Error("the worker stops"));
  open();
  await sleep(5);
  await finisher.drained();
  expect(stats).toMatchObject({ completed: 1, released: 1, failed: 0, dropped: 0 });
});
