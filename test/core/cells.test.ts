// How a stage travels as cells: the order of badness, the scale of durations, and bytes that come back as they went.
import { expect, test } from "vitest";
import {
  type CellStatus,
  type CellsHeader,
  cell_codes,
  cell_statuses,
  decodeCells,
  durationOf,
  encodeCells,
  most_cells,
  tasksOfCell,
} from "../../src/core/shown/cells.js";
import { durationClass, tasksPerCell, worstOf } from "./cell_rules.js";
import { random } from "./random_values.js";

const header = (more: Partial<CellsHeader> = {}): CellsHeader => ({
  job_id: "ab",
  stage_id: 7,
  stage: "tile",
  number: 2,
  status: "processing",
  epoch: 1,
  total: 3,
  first: 0,
  tasks_per_cell: 1,
  cells: 3,
  sampled: null,
  counts: {
    completed: 1,
    skipped: 0,
    failed: 1,
    cancelled: 0,
    waiting: 0,
    queued: 0,
    later: 0,
    retrying: 1,
    processing: 0,
  },
  workers: [{ worker_id: "w", host: "é" }],
  statuses: cell_statuses,
  steps_per_doubling: 8,
  as_of: "2026-01-01T00:00:00Z",
  ...more,
});

test("what needs a person stands above what runs, and that above what is done", () => {
  expect(worstOf(["completed", "processing", "failed", "retrying"])).toBe("failed");
  expect(worstOf(["completed", "processing", "retrying"])).toBe("retrying");
  expect(worstOf(["completed", "queued", "processing"])).toBe("processing");
  expect(worstOf(["completed", "queued", "later"])).toBe("later");
  expect(worstOf(["completed", "cancelled"])).toBe("cancelled");
  expect(worstOf(["completed", "skipped"])).toBe("skipped");
  expect(worstOf([])).toBe("none");
  for (const status of cell_statuses) expect(cell_statuses[cell_codes[status]]).toBe(status);
});

test("a duration comes back within five percent, from a millisecond to weeks, and no two orders are mixed up", () => {
  const next = random(7);
  let before = 0;
  for (let ms = 1; ms < 2 ** 31; ms = Math.ceil(ms * (1.01 + next() / 5))) {
    const found = durationOf(durationClass(ms))!;
    expect(Math.abs(found - ms), `${ms} ms`).toBeLessThanOrEqual(Math.max(1, 0.05 * ms));
    expect(durationClass(ms)).toBeGreaterThanOrEqual(before);
    before = durationClass(ms);
  }
  expect(durationClass(2 ** 31 - 1)).toBeLessThan(256);
  expect([durationClass(null), durationOf(0)]).toEqual([0, null]);
  expect(durationOf(durationClass(0))).toBe(1);
});

test("a stage has one cell per task up to 20,000, and never more cells than that", () => {
  expect([1, 19_999, 20_000, 20_001, 100_000, 1_000_000].map(tasksPerCell)).toEqual([1, 1, 1, 2, 5, 50]);
  for (const total of [20_001, 39_999, 99_999, 123_457, 7_654_321]) {
    const per = tasksPerCell(total);
    const cells = Math.ceil(total / per);
    expect(cells).toBeLessThanOrEqual(most_cells);
    const binned = header({ total, tasks_per_cell: per, cells });
    expect(tasksOfCell(binned, 0)).toEqual([0, per]);
    expect(tasksOfCell(binned, cells - 1)[1]).toBe(total);
  }
});

test("header and columns come back as they went, wherever they lie in a buffer", () => {
  const bytes = Uint8Array.from([1, 9, 8, 40, 0, 0, 1, 3, 2, 1, 255, 0]);
  const sent = encodeCells(header(), bytes);
  const padded = new Uint8Array(sent.length + 5);
  padded.set(sent, 3);
  for (const got of [decodeCells(sent), decodeCells(padded.subarray(3, 3 + sent.length))]) {
    expect(got).toMatchObject(header());
    expect([...got.status_codes].map((code): CellStatus => cell_statuses[code]!)).toEqual([
      "completed",
      "failed",
      "retrying",
    ]);
    expect([...got.duration_classes, ...got.attempts, ...got.worker_numbers]).toEqual([...bytes.slice(3)]);
  }
});

test("what was cut off or is something else is refused, not drawn", () => {
  const sent = encodeCells(header(), new Uint8Array(12));
  expect(() => decodeCells(sent.subarray(0, sent.length - 1))).toThrow(RangeError);
  expect(() => decodeCells(sent.subarray(0, 40))).toThrow(RangeError);
  expect(() => decodeCells(new Uint8Array(2))).toThrow(RangeError);
  expect(() => encodeCells(header(), new Uint8Array(11))).toThrow("12 bytes");
});
