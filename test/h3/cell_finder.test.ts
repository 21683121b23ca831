// The quick way from a place to its cell, sums and percentiles, compared with H3 itself and with what is computed the long way.
import * as h3 from "h3-js";
import { expect, test } from "vitest";
import { exactSum } from "../../src/geo/exact_sum.js";
import { cellIndex } from "../../src/geo/h3/cell.js";
import { CellFinder } from "../../src/geo/h3/cell_finder.js";
import { foldTallies, majority, percentile, Tallies } from "../../src/geo/h3/tallies.js";
import { toDegrees } from "../../src/geo/projections.js";

/** The same every time. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 2 ** 32;
  }
}

test("every place is in the cell that H3 says, at every resolution, near poles, edges of faces and the antimeridian", () => {
  const random = numbers(7);
  const next = () => random.next().value;
  const centres = h3.getPentagons(0).map((cell) => h3.cellToLatLng(cell));
  for (let resolution = 0; resolution <= 15; resolution++) {
    const finder = new CellFinder(resolution);
    const cell = (lat: number, lon: number) => cellIndex(finder.cells[finder.slotOf(lat, lon)]!);
    const places: [number, number][] = [
      [90, 0],
      [-90, 0],
      [0, 0],
      [0, 180],
      [0, -180],
    ];
    for (let i = 0; i < 4000; i++) places.push([(Math.asin(2 * next() - 1) * 180) / Math.PI, next() * 360 - 180]);
    for (const [lat, lon] of centres)
      for (let i = 0; i < 20; i++) places.push([lat + next() - 0.5, lon + next() - 0.5]);
    for (let i = 0; i < 300; i++) {
      const boundary = h3.cellToBoundary(h3.latLngToCell(next() * 178 - 89, next() * 360 - 180, resolution));
      const [a, b] = [boundary[0]!, boundary[1]!];
      places.push([(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], a);
    }
    for (const [lat, lon] of places) {
      const expected = h3.latLngToCell(lat, lon, resolution);
      if (cell(lat, lon) !== expected)
        expect([lat, lon, resolution, cell(lat, lon)]).toEqual([lat, lon, resolution, expected]);
    }
  }
});

test("a sum is rounded once, in whatever order", () => {
  expect(exactSum([1e16, 1, -1e16])).toBe(1);
  expect(exactSum([])).toBe(0);
  const values = Array.from({ length: 1000 }, (_, i) => 0.1 * (i % 7) * 10 ** (i % 20));
  expect(exactSum(values)).toBe(exactSum([...values].reverse()));
  expect(exactSum(Array.from({ length: 10 }, () => 0.1))).toBe(1);
});

test("tallies of parts are those of the whole, and percentiles are numpy's", () => {
  const random = numbers(3);
  const values = Array.from({ length: 5000 }, () => random.next().value * 100 - 20);
  const whole = new Tallies(true);
  for (const value of values) whole.add(0, value);
  const parts = [values.slice(0, 700), values.slice(700, 2000), values.slice(2000)].map((part) => {
    const tallies = new Tallies(true);
    for (const value of part) tallies.add(0, value);
    return tallies.at(0);
  });
  const folded = foldTallies(parts);
  expect(folded).toEqual(foldTallies([whole.at(0)]));
  expect(foldTallies([parts[2]!, parts[0]!, parts[1]!])).toEqual(folded);
  expect(folded.sums).toEqual([exactSum(values)]);
  const sorted = [...values].sort((a, b) => a - b);
  // Too many different ones: within half a per cent.
  expect(folded.values!.kind).toBe("buckets");
  for (const p of [1, 25, 50, 99]) {
    const exact = sorted[Math.floor(((values.length - 1) * p) / 100)]!;
    expect(Math.abs(percentile(folded, p) - exact)).toBeLessThanOrEqual(Math.abs(exact) * 0.00502);
  }
  const wide = new Tallies(false);
  for (const value of [1e16, 1, 1, -1e16, 0.5]) wide.add(0, value);
  expect(foldTallies([wide.at(0)]).sums).toEqual([2.5]);
  const few = new Tallies(true);
  for (const value of [4, 1, 3, 2, 2]) few.add(0, value);
  expect([0, 25, 50, 90, 100].map((p) => percentile(few.at(0), p))).toEqual([1, 2, 2, 3.6, 4]);
  expect(majority(few.at(0))).toBe(2);
});

test("web mercator and UTM lead to the degrees that PROJ gives", () => {
  const utm = (code: string, x: number, y: number) => {
    const to = toDegrees(code)!;
    if (to.kind !== "free") throw new Error("of another kind");
    return to.degrees(x, y);
  };
  const mercator = toDegrees("EPSG:3857")!;
  if (mercator.kind !== "separable") throw new Error("of another kind");
  // What gdaltransform says.
  expect(utm("EPSG:32632", 500_000, 0)).toEqual([9, 0]);
  const close = ([lon, lat]: number[], [east, north]: number[]) => {
    expect(lon).toBeCloseTo(east!, 12);
    expect(lat).toBeCloseTo(north!, 12);
  };
  close(utm("EPSG:32632", 700_000, 5_200_000), [11.6270013976238, 46.9233812197691]);
  close(utm("EPSG:32733", 150_000, 8_100_000), [11.7105959618231, -17.1579984503272]);
  expect(mercator.lon(20037508.342789244)).toBeCloseTo(180, 12);
  expect(mercator.lat(20037508.342789244)).toBeCloseTo(85.0511287798066, 12);
  expect(toDegrees("EPSG:2056")).toBeNull();
});
