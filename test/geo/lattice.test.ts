// Where the tiles of a grid lie in degrees, found between a few known points.
import { expect, test } from "vitest";
import type { Point, PointTransform } from "../../src/geo/bounds.js";
import { wgs84BoundsOf } from "../../src/geo/footprint.js";
import { bboxIn, latticeOf, mercatorBbox } from "../../src/geo/lattice.js";
import type { Bounds } from "../../src/geo/raster.js";

/** A sphere seen from above a place, metres to degrees: bends as projections do. */
function azimuthal(lon0: number, lat0: number): PointTransform {
  const [l0, f0] = [lon0, lat0].map((degrees) => (degrees * Math.PI) / 180) as [number, number];
  return async (points) =>
    points.map(([x, y]): Point | null => {
      const far = Math.hypot(x, y);
      if (far === 0) return [lon0, lat0];
      const c = 2 * Math.asin(far / (2 * 6_371_000));
      if (Number.isNaN(c)) return null;
      const lat = Math.asin(Math.cos(c) * Math.sin(f0) + (y * Math.sin(c) * Math.cos(f0)) / far);
      const lon = l0 + Math.atan2(x * Math.sin(c), far * Math.cos(f0) * Math.cos(c) - y * Math.sin(f0) * Math.sin(c));
      const turned = (((lon * 180) / Math.PI + 540) % 360) - 180;
      return [turned, (lat * 180) / Math.PI];
    });
}

const grid: Bounds = [-400_000, -300_000, 400_000, 300_000];
const tiles: Bounds[] = [
  [-400_000, -300_000, -300_000, -200_000],
  [-30_000, 40_000, 20_000, 90_000],
  [310_000, 210_000, 400_000, 300_000],
];

test.each([
  ["in Europe", 10, 52],
  ["on the antimeridian", 180, -17],
])("tiles %s are where a projection says, to a thousandth of the grid", async (_, lon, lat) => {
  const to_wgs84 = azimuthal(lon, lat);
  const lattice = (await latticeOf(grid, to_wgs84))!;
  expect(JSON.stringify(lattice).length).toBeLessThan(3000);
  for (const tile of tiles) {
    const exact = (await wgs84BoundsOf(tile, to_wgs84))!;
    const found = bboxIn(lattice, tile)!;
    for (const [i, edge] of exact.entries()) expect(Math.abs(found[i]! - edge)).toBeLessThan(0.012);
  }
  const crossing = bboxIn(lattice, grid)!;
  expect(crossing[0] > crossing[2]).toBe(lon === 180);
});

test("what cannot be told in degrees, and a grid around a pole, has no lattice", async () => {
  expect(await latticeOf([-2e7, -2e7, 2e7, 2e7], azimuthal(0, 0))).toBeNull();
  expect(await latticeOf(grid, azimuthal(0, 90))).toBeNull();
});

test("a tile in Web Mercator is placed exactly", () => {
  const box = mercatorBbox([779_236.4355, 5_465_442.183, 1_113_194.9079, 6_106_854.8349])!;
  for (const [i, edge] of [7, 44, 10, 48].entries()) expect(box[i]).toBeCloseTo(edge, 4);
  const half = 20_037_508.342789244;
  const world = mercatorBbox([-half, -half, half, half])!;
  expect(world.map(Math.round)).toEqual([-180, -85, 180, 85]);
});
