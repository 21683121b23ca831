// A worker may have fewer slots for a type than it has in all: what does not fit waits where other workers find it.
import { expect, test } from "vitest";
import { defineHandler } from "../../src/core/declare/declare.js";
import { createRegistry } from "../../src/core/declare/registry.js";
import { workerSettings } from "../../src/worker/options.js";
import { eventually, gate, openShop } from "./shop.js";

const times = (count: number) => Array.from({ length: count }, () => ({ parameters: {} }));

test("a type has its own slots, others pass by, and the rest is another worker's", async () => {
  const go_on = gate();
  let running = 0;
  const narrow = defineHandler("narrow", {}, async () => {
    running++;
    await go_on.passed;
    running--;
    return {};
  });
  const shop = await openShop({ handlers: [narrow, defineHandler("wide", {}, () => ({}))] });
  const worker = await shop.worker({ slots: 8, type_slots: { narrow: 2 }, poll_s: 0.05 });
  await shop.engine.enqueueMany("narrow", times(7));
  await eventually(() => running === 2);
  await shop.engine.enqueueMany("wide", times(20));
  await eventually(() => worker.stats().completed === 20);
  await eventually(async () => {
    const [row] = await shop.db.sql`
      select (select sum(app.held_count(held))::int from app.claims) as held, (select sum(hi - lo)::int from app.ready) as ready`;
    return JSON.stringify(row) === '{"held":2,"ready":5}';
  });
  expect(worker.stats()).toMatchObject({ running: 2, queued: 0 });
  const other = await shop.worker({ slots: 8, type_slots: { narrow: 3 }, poll_s: 0.05 });
  await eventually(() => running === 5);
  expect(other.stats()).toMatchObject({ running: 3, queued: 0 });
  go_on.open();
  await eventually(() => worker.stats().completed + other.stats().completed === 27);
  expect([worker.stats().released, other.stats().released]).toEqual([0, 0]);
});

test("a worker that polls seldom goes on as soon as a slot of the type is free, and never has more than that", async () => {
  let [running, most] = [0, 0];
  const narrow = defineHandler("narrow", {}, async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    return {};
  });
  const shop = await openShop({ handlers: [narrow] });
  const worker = await shop.worker({ slots: 8, type_slots: { narrow: 1 }, poll_s: 600 });
  await shop.engine.enqueueMany("narrow", times(30));
  await eventually(() => worker.stats().completed === 30);
  expect([most, worker.stats().released]).toEqual([1, 0]);
});

test("slots of a type that there is not, or of no number, are refused", () => {
  const registry = createRegistry({ handlers: [defineHandler("narrow", {}, () => ({}))] });
  expect(() => workerSettings({ type_slots: { narow: 1, narrow: 0 } }, registry)).toThrow(
    /type_slots\.narrow must be a whole number from 1 to 10000, not 0; type_slots: there is no handler "narow"/,
  );
});
