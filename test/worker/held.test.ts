import { expect, test } from "vitest";
import type { ClaimedStage, ClaimedTask } from "../../src/engine/work/commands.js";
import { newPace, recordPace } from "../../src/worker/claim/batch.js";
import { HeldClaim, Holdings } from "../../src/worker/claim/held.js";

function claim(claim_id: number, ordinals: number[], tenant_id = "acme"): HeldClaim {
  const tasks = ordinals.map((ordinal): ClaimedTask => [ordinal, null, null, null]);
  const batch = { claim_id, stage_id: 1, attempt: 1, crashes: 0, tasks };
  return new HeldClaim(batch, { stage_id: 1, tenant_id, planner: "data" } as ClaimedStage, newPace(), 0);
}

function takeAll(holdings: Holdings): string[] {
  const taken: string[] = [];
  for (let next = holdings.first(); next !== undefined; next = holdings.first()) {
    taken.push(`${next.claim_id}:${holdings.start(next)[0]}`);
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
    holdings.start(holdings.first()!);
  }
  expect(holdings.first()?.claim_id).toBe(20);
  expect(holdings.first()?.tenant.queue).toHaveLength(10);
});

test("of several tenants the one with the fewest slots starts first, whatever another has piled up", () => {
  const holdings = new Holdings();
  const wide = claim(1, [0, 1, 2, 3, 4]);
  holdings.add(wide);
  for (let n = 0; n < 3; n++) holdings.start(wide);
  holdings.add(claim(2, [0, 1, 2, 3], "globex"));
  expect(holdings.shares).toEqual({ acme: 5, globex: 4 });
  expect(takeAll(holdings)).toEqual(["2:0", "2:1", "2:2", "1:3", "2:3", "1:4"]);
});

test("a tenant whose tasks have ended has its turn again, and one without any is forgotten", () => {
  const holdings = new Holdings();
  const [wide, other] = [claim(1, [0, 1, 2]), claim(2, [0, 1], "globex")];
  for (const held of [wide, other]) holdings.add(held);
  for (const held of [wide, wide, other]) holdings.start(held);
  for (let n = 0; n < 2; n++) holdings.end(wide);
  expect(holdings.first()).toBe(wide);
  holdings.end(other);
  holdings.takeRest(other);
  expect(holdings.shares).toEqual({ acme: 1 });
});

test("while tenants share a worker, none of them has the last quarter of its slots", () => {
  const holdings = new Holdings();
  holdings.add(claim(1, [0, 1, 2, 3, 4, 5, 6, 7, 8]));
  const other = claim(2, [0], "globex");
  holdings.add(other);
  holdings.start(other);
  holdings.end(other);
  holdings.shareSlots(8, 4_000);
  expect(takeAll(holdings)).toEqual(["1:0", "1:1", "1:2", "1:3", "1:4", "1:5"]);
  holdings.add(claim(3, [0], "globex"));
  expect(takeAll(holdings)).toEqual(["3:0"]);
  holdings.end(other);
  // Nothing of the other for a while: the slots are not kept for it any longer.
  holdings.shareSlots(8, 6_000);
  expect(takeAll(holdings)).toEqual(["1:6", "1:7"]);
});

test("a tenant is full that has its slots and more than starts soon, or nothing of which moves", () => {
  const holdings = new Holdings();
  const wide = claim(1, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  holdings.add(wide);
  for (let n = 0; n < 6; n++) holdings.start(wide, 1_000);
  expect([...holdings.full(100, 1_000).keys()]).toEqual([]);
  holdings.add(claim(2, [0], "globex"));
  holdings.shareSlots(8, 1_000);
  // How long its tasks take is not known: then none is expected to end soon.
  expect([...holdings.full(100, 1_000).keys()]).toEqual(["acme"]);
  recordPace(wide.pace, 6, 0);
  expect([...holdings.full(100, 1_000).keys()]).toEqual([]);
  expect([...holdings.full(100, 1_100).keys()]).toEqual(["acme"]);
  recordPace(wide.pace, 600, 0);
  expect([...holdings.full(100, 1_000).keys()]).toEqual(["acme"]);
  holdings.end(wide, 1_001);
  expect([...holdings.full(100, 2_000).keys()]).toEqual([]);
});

test("as many slots are kept for others as they had lately, up to half of all", () => {
  const holdings = new Holdings();
  holdings.add(claim(1, [0, 1, 2, 3, 4, 5, 6, 7, 8]));
  const other = claim(2, [0, 1, 2], "globex");
  holdings.add(other);
  holdings.shareSlots(8, 1_000);
  holdings.takeRest(other);
  holdings.shareSlots(8, 2_000);
  expect(takeAll(holdings)).toEqual(["1:0", "1:1", "1:2", "1:3", "1:4"]);
  holdings.add(claim(3, [0, 1, 2, 3, 4, 5], "globex"));
  holdings.shareSlots(8, 3_000);
  expect(takeAll(holdings)).toEqual(["3:0", "3:1", "3:2", "3:3"]);
});

test("a data plan starts where no slot is free, and takes none", () => {
  const holdings = new Holdings();
  holdings.add(claim(1, [0]));
  const plan = claim(2, [-1]);
  holdings.add(plan);
  expect(holdings.first(false)).toBe(plan);
  holdings.start(plan);
  expect(holdings.first(false)).toBeUndefined();
  expect(holdings.first()?.claim_id).toBe(1);
  expect(holdings.shares).toEqual({ acme: 1 });
  expect([...holdings.plans]).toEqual([plan]);
  holdings.settle(plan, 1);
  expect(holdings.plans.size).toBe(0);
});

test("what is handed back is of the tenant that has the most", () => {
  const holdings = new Holdings();
  holdings.add(claim(1, [0, 1, 2]));
  holdings.add(claim(2, [7], "globex"));
  expect(holdings.takeFromEnd(2)).toEqual([{ c: 1, o: [1, 2] }]);
});
