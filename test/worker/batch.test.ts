import { describe, expect, test } from "vitest";
import { type Load, msPerStart, newPace, recordPace, wantedBatch } from "../../src/worker/claim/batch.js";
import { surplus } from "../../src/worker/claim/surplus.js";

const load = (part: Partial<Load>): Load => ({
  slots: 8,
  running: 0,
  queued: 0,
  batch_max: 1000,
  ms_per_start: null,
  last_batch: 0,
  youngest_ms: 0,
  ahead_ms: 1000,
  ...part,
});

describe("an adaptive batch", () => {
  test("of unknown tasks fills the free slots and no more", () => {
    expect(wantedBatch(load({}))).toBe(8);
    expect(wantedBatch(load({ running: 5, queued: 1 }))).toBe(2);
    expect(wantedBatch(load({ running: 8 }))).toBe(0);
  });

  test("of long tasks is one when one slot is free", () => {
    const ms_per_start = msPerStart({ duration_ms: 60_000, busy_ms: 1, samples: 5 }, 8);
    expect(wantedBatch(load({ running: 7, ms_per_start, last_batch: 8 }))).toBe(1);
    expect(wantedBatch(load({ running: 8, ms_per_start, last_batch: 8 }))).toBe(0);
  });

  test("of tasks that take a tenth of a second is what starts within a second", () => {
    const ms_per_start = msPerStart({ duration_ms: 100, busy_ms: 0.1, samples: 5 }, 8);
    expect(wantedBatch(load({ running: 8, ms_per_start, last_batch: 80 }))).toBe(80);
    expect(wantedBatch(load({ running: 8, queued: 41, ms_per_start, last_batch: 80 }))).toBe(0);
    expect(wantedBatch(load({ running: 8, queued: 39, ms_per_start, last_batch: 80 }))).toBe(41);
  });

  test("of no-op tasks reaches the largest batch within a few claims", () => {
    let last_batch = 8;
    let claims = 1;
    while (last_batch < 1000) {
      last_batch = wantedBatch(load({ ms_per_start: 0.0001, last_batch }));
      claims++;
    }
    expect(claims).toBeLessThanOrEqual(4);
  });

  test("of no-op tasks is asked for while the last one still waits, so that the connection never rests", () => {
    expect(wantedBatch(load({ running: 8, queued: 1000, ms_per_start: 0.001, last_batch: 1000 }))).toBe(1000);
    expect(wantedBatch(load({ running: 8, queued: 1500, ms_per_start: 0.001, last_batch: 1000 }))).toBe(0);
  });

  test("of tasks that block the event loop does not count on the slots", () => {
    const pace = newPace();
    recordPace(pace, 10, 10);
    expect(msPerStart(pace, 8)).toBe(10);
    expect(wantedBatch(load({ ms_per_start: 10, last_batch: 1000 }))).toBe(100);
  });

  test("does not trust what is known when everything that runs takes longer", () => {
    const known = { running: 8, ms_per_start: 0.001, last_batch: 1000 };
    expect(wantedBatch(load({ ...known, youngest_ms: 400 }))).toBe(20);
    expect(wantedBatch(load({ ...known, youngest_ms: 1000 }))).toBe(0);
    expect(wantedBatch(load({ ...known, running: 7, youngest_ms: 1000 }))).toBe(1000);
  });

  test("never exceeds the largest batch, whatever the slots", () => {
    expect(wantedBatch(load({ slots: 64, batch_max: 10 }))).toBe(10);
    expect(wantedBatch(load({ slots: 64, batch_max: 10, ms_per_start: 0, last_batch: 10 }))).toBe(10);
  });

  test("follows when tasks of a type become slower", () => {
    const pace = newPace();
    for (let i = 0; i < 1000; i++) recordPace(pace, 1, 0.1);
    for (let i = 0; i < 40; i++) recordPace(pace, 5000, 0.1);
    expect(pace.duration_ms).toBeGreaterThan(4000);
  });
});

describe("a hand-back", () => {
  const waiting = { slots: 4, running: 4, since_start_ms: 0, youngest_ms: 0 };

  test("keeps what starts within a second and gives back the rest", () => {
    expect(surplus({ ...waiting, queue: [{ count: 100, ms_per_start: 100 }] })).toBe(90);
  });

  test("does not happen for a small misjudgement", () => {
    expect(surplus({ ...waiting, queue: [{ count: 15, ms_per_start: 100 }] })).toBe(0);
  });

  test("does not happen while a slot is free", () => {
    expect(surplus({ ...waiting, running: 3, queue: [{ count: 100, ms_per_start: 100 }] })).toBe(0);
  });

  test("is complete when nothing has started for a second", () => {
    expect(surplus({ ...waiting, since_start_ms: 1000, queue: [{ count: 7, ms_per_start: null }] })).toBe(7);
  });

  test("judges unknown tasks by how long all running ones have run", () => {
    expect(surplus({ ...waiting, youngest_ms: 900, queue: [{ count: 3, ms_per_start: null }] })).toBe(0);
    expect(surplus({ ...waiting, youngest_ms: 900, queue: [{ count: 100, ms_per_start: null }] })).toBe(96);
  });

  test("spares short tasks at the front when long ones wait behind them", () => {
    const queue = [
      { count: 50, ms_per_start: 1 },
      { count: 10, ms_per_start: 1000 },
    ];
    expect(surplus({ ...waiting, queue })).toBe(10);
  });
});
