// Boxes of tasks on the globe: which are any, which touch, what is around them, and how they travel.
import { describe, expect, test } from "vitest";
import { binBoxes, binOf, gridOver } from "../../src/geo/box_bins.js";
import { BoxSet, footprintBox, touches } from "../../src/geo/boxes.js";
import {
  box_scale,
  formatOrdinals,
  packBoxes,
  packLetters,
  parseOrdinals,
  rangesOf,
  unpackBoxes,
  unpackLetters,
} from "../../src/geo/packed_boxes.js";
import type { Bounds } from "../../src/geo/raster.js";

describe("a box", () => {
  test("is four numbers on the globe, or six with heights that are left out", () => {
    expect(footprintBox([5.9, 45.8, 10.5, 47.8])).toEqual([5.9, 45.8, 10.5, 47.8]);
    expect(footprintBox([5.9, 45.8, 100, 10.5, 47.8, 4634])).toEqual([5.9, 45.8, 10.5, 47.8]);
    expect(footprintBox([170, -20, -170, -10])).toEqual([170, -20, -170, -10]);
    expect(footprintBox([-180.0000004, -90, 180.0000004, 90.0000001])).toEqual([-180, -90, 180, 90]);
  });

  test("is none when a number is missing, not finite, off the globe, or south lies above north", () => {
    const none: unknown[] = [
      null,
      "1,2,3,4",
      {},
      [],
      [1, 2, 3],
      [1, 2, 3, 4, 5],
      [1, 2, 3, "4"],
      [1, 2, 3, null],
      [0, 0, Number.NaN, 1],
      [0, 0, Number.POSITIVE_INFINITY, 1],
      [0, 0, 190, 1],
      [0, -91, 1, 1],
      [0, 5, 1, 4],
      [500_000, 5_200_000, 600_000, 5_300_000],
    ];
    for (const value of none) expect(footprintBox(value), JSON.stringify(value)).toBeNull();
  });

  test("touches what it meets across the antimeridian", () => {
    const pacific: Bounds = [170, -20, -170, -10];
    expect(touches(pacific, [-175, -15, -174, -14])).toBe(true);
    expect(touches(pacific, [175, -15, 176, -14])).toBe(true);
    expect(touches([175, -15, 176, -14], pacific)).toBe(true);
    expect(touches(pacific, [-169, -15, 169, -14])).toBe(false);
    expect(touches([170, 0, 180, 1], [-180, 0, -170, 1])).toBe(true);
    expect(touches([0, 0, 1, 1], [2, 0, 3, 1])).toBe(false);
    expect(touches([0, 0, 1, 1], [0, 2, 1, 3])).toBe(false);
    expect(touches([-180, -90, 180, 90], [12, 3, 12, 3])).toBe(true);
  });
});

function setOf(...boxes: (Bounds | null)[]): BoxSet {
  const set = new BoxSet(boxes.length);
  for (const [ordinal, box] of boxes.entries()) if (box) set.set(ordinal, box);
  return set;
}

describe("the extent of boxes", () => {
  test("is the smallest box around them, over the antimeridian where that is smaller", () => {
    expect(setOf([8, 47, 9, 48], null, [5, 46, 6, 49]).extent()).toEqual([5, 46, 9, 49]);
    expect(setOf([178, -18, 179, -17], [-179, -19, -178, -16]).extent()).toEqual([178, -19, -178, -16]);
    expect(setOf([177, -18, -179, -17], [-179.5, -19, -170, -16]).extent()).toEqual([177, -19, -170, -16]);
    expect(setOf([170, 0, 180, 1], [160, 0, 170, 1]).extent()).toEqual([160, 0, 180, 1]);
    expect(setOf([-180, -90, 180, 90], [0, 0, 1, 1]).extent()).toEqual([-180, -90, 180, 90]);
    expect(setOf(null).extent()).toBeNull();
  });

  test("follows a box that comes later", () => {
    const set = new BoxSet(2);
    set.set(0, [0, 0, 1, 1]);
    expect(set.extent()).toEqual([0, 0, 1, 1]);
    set.set(1, [5, 5, 6, 6]);
    expect(set.extent()).toEqual([0, 0, 6, 6]);
  });

  test("of 100,000 boxes is found without running out of anything", () => {
    const set = new BoxSet(100_000);
    for (let i = 0; i < set.size; i++) set.set(i, [(i % 400) / 10, Math.floor(i / 400) / 10, (i % 400) / 10 + 0.1, 30]);
    expect(set.extent()).toEqual([0, 0, 40, 30]);
    expect(set.touching([3.95, 1.95, 4.05, 2.05])).not.toHaveLength(0);
  });
});

describe("boxes over the wire", () => {
  test("come out as they went in, in their order", () => {
    const set = new BoxSet(50);
    set.set(40, [170.1234567, -20.5, -170.25, -10]);
    set.set(3, [-1, -2, 3, 4]);
    const packed = packBoxes(set, set.order);
    expect(unpackBoxes(JSON.parse(JSON.stringify(packed)), box_scale)).toEqual([
      { ordinal: 40, box: [170.123457, -20.5, -170.25, -10] },
      { ordinal: 3, box: [-1, -2, 3, 4] },
    ]);
  });

  test("a row of tiles is a few characters each", () => {
    const set = new BoxSet(1000);
    for (let i = 0; i < 1000; i++) set.set(i, [i / 100, 10, (i + 1) / 100, 10.01]);
    expect(JSON.stringify(packBoxes(set, set.order)).length / 1000).toBeLessThan(21);
  });

  test("states are letters and how often they follow each other", () => {
    expect(packLetters("ccccfqqx")).toBe("c4fq2x");
    expect(unpackLetters("c4fq2x")).toBe("ccccfqqx");
    expect(unpackLetters(packLetters(""))).toBe("");
  });

  test("ordinals are ranges, sorted and apart", () => {
    expect(rangesOf([7, 1, 2, 3, 9, 8])).toEqual([
      [1, 4],
      [7, 10],
    ]);
    expect(parseOrdinals("200-300,0-99,120,50-110")).toEqual([
      [0, 111],
      [120, 121],
      [200, 301],
    ]);
    expect(
      formatOrdinals([
        [0, 100],
        [120, 121],
      ]),
    ).toBe("0-99,120");
    for (const bad of ["", "a", "5-2", "1,,2", "-3"]) expect(parseOrdinals(bad), bad).toBeNull();
  });
});

describe("a grid of boxes", () => {
  test("counts each box once, in the bin of its middle, by state", () => {
    const set = new BoxSet(400);
    for (let i = 0; i < 400; i++) {
      const [x, y] = [i % 20, Math.floor(i / 20)];
      set.set(i, [x, y, x + 1, y + 1]);
    }
    const grid = gridOver(set.extent()!, 100);
    expect(grid).toMatchObject({ west: 0, south: 0, columns: 10, rows: 10, width: 2, height: 2 });
    const bins = binBoxes(set, set.order, grid, (ordinal) => (ordinal === 21 ? 1 : 0), 2);
    expect(bins.column).toHaveLength(100);
    expect(bins.counts[0]!.reduce((a, b) => a + b) + bins.counts[1]!.reduce((a, b) => a + b)).toBe(400);
    const at = bins.column.findIndex((column, i) => column === 0 && bins.row[i] === 0);
    expect(bins.counts.map((counts) => counts[at])).toEqual([3, 1]);
  });

  test("runs on over the antimeridian", () => {
    const set = setOf([178, 0, 179, 1], [179.5, 0, -179.5, 1], [-179, 0, -178, 1]);
    const grid = gridOver(set.extent()!, 8);
    expect(grid.width * grid.columns).toBeCloseTo(4);
    const columns = set.order.map((ordinal) => binOf(grid, set.get(ordinal)!) % grid.columns);
    expect(columns).toEqual([...columns].sort((a, b) => a - b));
    expect(new Set(columns).size).toBe(3);
  });

  test("of one point is one bin", () => {
    const grid = gridOver([8, 47, 8, 47]);
    expect(binOf(grid, [8, 47, 8, 47])).toBe(0);
  });
});
