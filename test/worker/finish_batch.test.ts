import { expect, test } from "vitest";
import type { ClaimedStage } from "../../src/engine/work/commands.js";
import { newPace } from "../../src/worker/claim/batch.js";
import { HeldClaim } from "../../src/worker/claim/held.js";
import { FinishBatch } from "../../src/worker/finish/finish_batch.js";
import { asStorable, halves } from "../../src/worker/finish/troubled_outcomes.js";

const holder = (claim_id: number, stage_id: number) =>
  new HeldClaim({ claim_id, stage_id, attempt: 2, crashes: 0, tasks: [] }, { stage_id } as ClaimedStage, newPace(), 0);
const failure = { d: 1, category: "permanent", code: "bad", message: "no" };

function filled() {
  const [a, b] = [holder(10, 1), holder(11, 2)];
  const batch = new FinishBatch();
  batch.addDone(a, 0, 1.4, '{"n":0}', null);
  batch.addDone(a, 1, 2.6, "null", { next_stage_params: '{"z":1}' });
  batch.addDone(b, 7, 3, "true", { spill: '{"key":"k"}' });
  batch.addDone(a, 2, 4, "3", null);
  batch.addFailed(b, { c: 11, o: 8, ...failure });
  return { a, b, batch };
}

test("columns have one entry per task, and extras name their position from one", () => {
  const { batch } = filled();
  const { claims, done, failed } = batch.request("w", "");
  expect(JSON.parse(claims)).toEqual([
    { c: 10, g: 1, a: 2 },
    { c: 11, g: 2, a: 2 },
  ]);
  expect(done).toMatchObject({ claims: "10,10,11,10", ordinals: "0,1,7,2", durations: "1,3,3,4" });
  expect(JSON.parse(`[${done.results}]`)).toEqual([{ n: 0 }, null, true, 3]);
  expect(JSON.parse(done.extras!)).toEqual([
    { i: 2, n: { z: 1 } },
    { i: 3, s: { key: "k" } },
  ]);
  expect(JSON.parse(failed)).toEqual([{ c: 11, o: 8, ...failure }]);
});

test("tasks are counted per claim, also when claims take turns", () => {
  const { a, b, batch } = filled();
  expect([...batch.claims()]).toEqual([
    [a, 3],
    [b, 2],
  ]);
});

test("halves hold every outcome once, with what belongs to it", () => {
  const { batch } = filled();
  const [first, second] = halves(batch);
  expect([first.size, second.size]).toEqual([3, 2]);
  expect(JSON.parse(first.request("w", "").done.extras!)).toEqual([
    { i: 2, n: { z: 1 } },
    { i: 3, s: { key: "k" } },
  ]);
  expect(second.request("w", "").done.ordinals).toBe("2");
  expect(JSON.parse(second.request("w", "").failed)).toHaveLength(1);
});

test("an outcome that cannot be stored becomes a failure without its content, and then nothing", () => {
  const alone = new FinishBatch();
  alone.addDone(holder(10, 1), 4, 5, '"poison"', null);
  const told = asStorable(alone, "bad byte");
  const { failed, done } = told!.request("w", "");
  expect(JSON.parse(failed)).toMatchObject([{ c: 10, o: 4, d: 5, category: "contract", code: "unstorable_result" }]);
  expect(done.ordinals).toBe("");
  const again = asStorable(told!, "worse");
  expect(JSON.parse(again!.request("w", "").failed)).toMatchObject([{ o: 4, code: "unstorable_failure" }]);
  expect(asStorable(again!, "hopeless")).toBeNull();
});
