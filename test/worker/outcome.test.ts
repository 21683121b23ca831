import { expect, test } from "vitest";
import type { Failure } from "../../src/core/errors/failures.js";
import type { Ref, Store } from "../../src/core/places/store.js";
import type { ClaimedStage } from "../../src/engine/work/commands.js";
import { newPace } from "../../src/worker/claim/batch.js";
import { HeldClaim } from "../../src/worker/claim/held.js";
import type { DoneExtra } from "../../src/worker/finish/finish_batch.js";
import { type Done, outcomeOf } from "../../src/worker/finish/outcome.js";
import { SPILL_BYTES } from "../../src/worker/finish/spill.js";
import { TaskContext } from "../../src/worker/run/context.js";
import type { TaskServices } from "../../src/worker/run/task_services.js";

const stored = new Map<string, string>();
const store: Store = {
  put: async (key, content): Promise<Ref> => {
    stored.set(key, String(content));
    return { store: "file", key, bytes: content.length, sha256: "00" };
  },
  putStream: () => Promise.reject(new Error("not here")),
  get: async (ref) => Buffer.from(stored.get(ref.key)!),
  getStream: () => {
    throw new Error("not here");
  },
  remove: async () => {},
};

function outcome(value: unknown, prepare?: (ctx: TaskContext) => void) {
  const stage = { stage_id: 9, stage: "tiles", tenant_id: "acme" } as ClaimedStage;
  const claim = new HeldClaim({ claim_id: 4, stage_id: 9, attempt: 2, crashes: 0, tasks: [] }, stage, newPace(), 0);
  const ctx = new TaskContext({} as TaskServices, claim, [5, null, null, null], 0);
  prepare?.(ctx);
  return outcomeOf(value, ctx, { store, worker_id: "w" });
}

/** What the database would be told: result, hand-over, reference. */
function told(outcome: string | Done) {
  const { result, extra } = typeof outcome === "string" ? { result: outcome, extra: {} as DoneExtra } : outcome;
  const { next_stage_params: n, spill: s } = extra;
  return {
    r: JSON.parse(result),
    ...(n === undefined ? {} : { n: JSON.parse(n) }),
    ...(s === undefined ? {} : { s: JSON.parse(s) }),
  };
}

const item = (value: unknown, prepare?: (ctx: TaskContext) => void) => told(outcome(value, prepare) as string | Done);

test("a result becomes JSON text as JSON.stringify writes it", () => {
  expect(outcome(undefined)).toBe("null");
  expect(outcome(null)).toBe("null");
  for (const value of [
    0,
    -1.5,
    true,
    "tile ü",
    [],
    {},
    { a: 1, b: "x", c: null, d: [1, { e: 2 }] },
    "x".repeat(5000),
  ]) {
    expect(item(value).r).toEqual(value);
  }
  expect(item({ at: new Date(0), gone: undefined }).r).toEqual({ at: "1970-01-01T00:00:00.000Z" });
});

test("what JSON cannot hold is a contract failure that names the place", () => {
  const cases: [unknown, string][] = [
    [Number.NaN, "$"],
    [{ a: Number.POSITIVE_INFINITY }, "$.a"],
    [{ a: [0, "x\0"] }, "$.a[1]"],
    [{ "k\0": 1 }, "$"],
    [{ a: "\ud83d" }, "$.a"],
    [{ n: 5n }, "$.n"],
    [{ f: new Map() }, "$.f"],
  ];
  for (const [value, path] of cases) {
    const failure = outcome(value) as Failure;
    expect(failure).toMatchObject({ category: "contract", code: "bad_result" });
    expect(failure.message).toContain(path);
  }
});

test("a value that throws when it is read is a contract failure too", () => {
  const hostile = {
    get a() {
      throw new Error("no");
    },
  };
  expect(outcome(hostile)).toMatchObject({ category: "contract" });
});

test("success: false is a failure with the category it asks for", () => {
  expect(outcome({ success: false, error: "no luck" })).toMatchObject({ category: "transient", message: "no luck" });
  expect(outcome({ success: false, retry: false })).toMatchObject({ category: "permanent" });
  expect(outcome({ success: false, retry_after_s: 3 })).toMatchObject({ category: "throttled", retry_after_s: 3 });
});

test("a hand-over travels beside the result, however it was given", () => {
  expect(item({ tiles: 3, next_stage_params: { zone: "silver" } })).toMatchObject({
    r: { tiles: 3 },
    n: { zone: "silver" },
  });
  expect(item({ tiles: 3 }, (ctx) => ctx.next_stage_params({ zone: "gold" }))).toMatchObject({
    r: { tiles: 3 },
    n: { zone: "gold" },
  });
  expect(item(undefined, (ctx) => ctx.next_stage_params({ zone: "gold" }))).toEqual({ r: null, n: { zone: "gold" } });
});

test("a hand-over that is too large or no object is refused", () => {
  const large = outcome(1, (ctx) => ctx.next_stage_params({ text: "x".repeat(262_144) })) as Failure;
  expect(large.message).toContain("the limit is 262144");
  expect(outcome(1, (ctx) => ctx.next_stage_params([1] as never))).toMatchObject({ category: "contract" });
});

test("a result of one megabyte is spilled under a key of this claim, one byte less is not", async () => {
  const fits = "x".repeat(SPILL_BYTES - 3);
  expect(item(fits).r).toBe(fits);
  const spilled = told(await (outcome(`${fits}x`) as Promise<Done>));
  expect(spilled.r).toBeNull();
  expect(spilled.s).toMatchObject({
    key: expect.stringMatching(/^tenant-acme\/results\/9\/5\/2-4-w-[0-9a-f-]{36}\.json$/),
  });
  expect(JSON.parse(stored.get(spilled.s.key)!)).toBe(`${fits}x`);
});

test("the size that decides is in bytes", async () => {
  expect(outcome("é".repeat(SPILL_BYTES / 2))).toBeInstanceOf(Promise);
});
