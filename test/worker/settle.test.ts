import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/core/declare/declare.js";
import type { Ref } from "../../src/core/places/store.js";
import type { FinishRequest } from "../../src/engine/work/commands.js";
import { SPILL_BYTES } from "../../src/worker/finish/spill.js";
import { accepted, openRig } from "./rig.js";
import { gate } from "./shop.js";

/** Runs one handler on `count` tasks and gives what the database was told. */
async function told(run: (parameters: unknown, ctx: { ordinal: number }) => unknown, count = 1) {
  const requests: FinishRequest[] = [];
  const finish = (request: FinishRequest) => {
    requests.push(request);
    return Promise.resolve(accepted);
  };
  const rig = openRig({ handlers: [defineHandler("odd", {}, run)], finish });
  rig.hold(1, "odd", count);
  rig.runner.pump();
  await sleep(20);
  await rig.finisher.drained();
  return {
    rig,
    done: requests.flatMap(({ done }) => (done.ordinals === "" ? [] : done.ordinals.split(","))),
    failed: requests.flatMap(({ failed }) => JSON.parse(failed) as { o: number; message: string }[]),
  };
}

/** Spills go through a gate. */
function slowStore() {
  const { passed, open } = gate();
  const put = async (key: string): Promise<Ref> => {
    await passed;
    return { store: "file", key, bytes: SPILL_BYTES, sha256: "00" };
  };
  return { store: { put }, open };
}

const large = defineHandler("large", {}, (_, ctx) =>
  ctx.ordinal === 0 ? "x".repeat(SPILL_BYTES) : new Promise(() => {}),
);

test("a task whose handler has returned does not time out while its result is being written", async () => {
  const { store, open } = slowStore();
  const rig = openRig({ handlers: [large], store });
  rig.hold(1, "large", 1);
  rig.runner.pump();
  rig.runner.sweep(performance.now() + 60_000);
  rig.runner.sweep(performance.now() + 120_000);
  open();
  await sleep(20);
  await rig.finisher.drained();
  expect(rig.stats).toMatchObject({ timed_out: 0, completed: 1, failed: 0 });
  expect(rig.holdings.claims.size).toBe(0);
});

test("a task given up while its result is being written is settled once", async () => {
  const { store, open } = slowStore();
  const rig = openRig({ handlers: [large], store });
  const claim = rig.hold(1, "large", 2);
  rig.runner.pump();
  const [writing] = rig.runner.running;
  writing!.abort("stopping", new Error("the worker stops"));
  rig.runner.giveUp(writing!, performance.now());
  open();
  await sleep(20);
  await rig.finisher.drained();
  // The other task of the claim still runs: the claim must go on being named.
  expect(claim.open).toBe(1);
  expect(rig.holdings.claims.has(1)).toBe(true);
  expect(rig.stats).toMatchObject({ dropped: 0, completed: 0 });
});

test("a thenable whose then throws fails its task and no other", async () => {
  const hostile = {
    // biome-ignore lint/suspicious/noThenProperty: that is what is tested
    get then(): never {
      throw new Error("no then for you");
    },
  };
  const { done, failed } = await told((_, { ordinal }) => (ordinal === 0 ? hostile : "fine"), 3);
  expect(failed).toMatchObject([{ o: 0, message: "no then for you" }]);
  expect(done).toEqual(["1", "2"]);
});

test("a thenable that calls both callbacks ends its task once, be it a promise or not", async () => {
  const both = (yes: (value: unknown) => void, no: (error: unknown) => void) => {
    yes("first");
    no(new Error("second"));
    yes("third");
  };
  const { rig, done, failed } = await told((_, { ordinal }) => {
    // biome-ignore lint/suspicious/noThenProperty: that is what is tested
    return ordinal === 0 ? { then: both } : Object.assign(Promise.resolve(), { then: both });
  }, 2);
  expect(done.sort()).toEqual(["0", "1"]);
  expect(failed).toEqual([]);
  expect(rig.stats).toMatchObject({ completed: 2, failed: 0 });
  expect(rig.runner.running.size).toBe(0);
});

test("a schema with asynchronous checks is waited for", async () => {
  const exists = z.object({ name: z.string().refine(async (name) => name === "known", "is not known") });
  const seen: unknown[] = [];
  const handler = defineHandler("checked", { parameters: exists }, (parameters) => {
    seen.push(parameters);
  });
  const rig = openRig({ handlers: [handler] });
  rig.hold(1, "checked", 1, { name: "known" });
  rig.hold(2, "checked", 1, { name: "unknown" });
  rig.runner.pump();
  await sleep(20);
  expect(seen).toEqual([{ name: "known" }]);
  expect(rig.stats).toMatchObject({ completed: 1, failed: 1 });
});

test("a handler does not start when its task was lost during an asynchronous check", async () => {
  const { passed, open } = gate();
  const slow = z.object({}).refine(() => passed.then(() => true));
  let runs = 0;
  const handler = defineHandler("checked", { parameters: slow }, () => {
    runs++;
  });
  const rig = openRig({ handlers: [handler] });
  rig.hold(1, "checked", 1);
  rig.runner.pump();
  rig.runner.abortAll("lost", new Error("others have it"));
  open();
  await sleep(20);
  expect(runs).toBe(0);
  expect(rig.stats.dropped).toBe(1);
});
