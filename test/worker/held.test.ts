import { expect, test } from "vitest";
import type { ClaimedStage, ClaimedTask } from "../../src/engine/work/commands.js";
import { newPace } from "../../src/worker/claim/batch.js";
import { HeldClaim, Holdings } from "../../src/worker/claim/held.js";

function claim(claim_id: number, ordinals: number[]): HeldClaim {
  const tasks = ordinals.map((ordinal): ClaimedTask => [ordinal, null, null, null]);
  const batch = { claim_id, stage_id: 1, attempt: 1, crashes: 0, tasks };
  return new HeldClaim(batch, { stage_id: 1 } as ClaimedStage, newPace(), 0);
}

function takeAll(holdings: Holdings): string[] {
  const taken: string[] = [];
  for (let next = holdings.first(); next !== undefined; next = holdings.first()) {
    taken.push(`${next.claim_id}:${next.tasks[next.next++]![0]}`);
    holdings.queued--;
  }
  return taken;
}

test("tasks start in the order in which they were claimed", () => {
  const holdings = new Holdings();
  holdings.add(claim(1, [5, 6]));
  holdings.add(claim(2, [0]));
  expect(holdings.queued).toBe(3);
  expect(takeAll(holdings)).toEqual(["1:5", "1:6", "2:0"]);
  expect(holdings.queued).toBe(0);
});

test("what is handed back comes from the end and never starts here", () => {
  const holdings = new Holdings();
  holdings.add(claim(1, [0, 1, 2]));
  holdings.add(claim(2, [7, 8]));
  expect(holdings.takeFromEnd(3)).toEqual([
    { c: 2, o: [7, 8] },
    { c: 1, o: [2] },
  ]);
  expect(takeAll(holdings)).toEqual(["1:0", "1:1"]);
});

test("a claim is known until the fate of each of its tasks is", () => {
  const holdings = new Holdings();
  const held = claim(1, [0, 1, 2]);
  holdings.add(held);
  takeAll(holdings);
  holdings.settle(held, 2);
  expect([...holdings.claims.keys()]).toEqual([1]);
  holdings.settle(held, 1);
  expect(holdings.claims.size).toBe(0);
});

test("of a lost claim nothing starts any more", () => {
  const holdings = new Holdings();
  const held = claim(1, [0, 1, 2]);
  holdings.add(held);
  holdings.add(claim(2, [9]));
  holdings.lose(1);
  expect(held.lost).toBe(true);
  expect(holdings.queued).toBe(1);
  expect(takeAll(holdings)).toEqual(["2:9"]);
});

test("thousands of small claims do not pile up in the queue", () => {
  const holdings = new Holdings();
  for (let id = 0; id < 5000; id++) {
    holdings.add(claim(id, [id]));
    if (id % 3 === 0) takeAll(holdings);
  }
  expect(takeAll(holdings).at(-1)).toBe("4999:4999");
  expect(holdings.queued).toBe(0);
});

test("a busy queue keeps nothing of the claims it has passed", () => {
  const holdings = new Holdings();
  for (let id = 0; id < 30; id++) holdings.add(claim(id, [0, 1]));
  for (let taken = 0; taken < 40; taken++) {
    holdings.first()!.next++;
    holdings.queued--;
  }
  expect(holdings.first()?.claim_id).toBe(20);
  const { queue } = holdings as unknown as { queue: unknown[] };
  expect(queue).toHaveLength(10);
});
