import { describe, expect, test } from "vitest";
import {
  denseRing,
  interval,
  type Point,
  type PointTransform,
  unionBboxes,
  unwrap,
  wgs84Bbox,
  wrapLongitude,
} from "../../src/geo/bounds.js";
import { type Footprint, footprintOf, wgs84BoundsOf } from "../../src/geo/footprint.js";
import { contains, type Mask, maskParts } from "../../src/geo/mask_rings.js";
import type { Bounds, GeoTransform } from "../../src/geo/raster.js";
import { areSimple, convexHull, cutAt, signedArea, simplifyRing } from "../../src/geo/rings.js";

const degrees: PointTransform = async (points) => points;
const earth = 6378137;
const mercator: PointTransform = async (points) =>
  points.map(([x, y]) => {
    const lon = ((x / earth) * 180) / Math.PI;
    return [wrapLongitude(lon), (Math.atan(Math.sinh(y / earth)) * 180) / Math.PI];
  });
/** Polar stereographic on a sphere, north or south. */
const polar =
  (sign: 1 | -1): PointTransform =>
  async (points) =>
    points.map(([x, y]) => {
      const lat = 90 - (2 * Math.atan(Math.hypot(x, y) / (2 * earth)) * 180) / Math.PI;
      return [(Math.atan2(x, -y * sign) * 180) / Math.PI, sign * lat];
    });

function picture(...rows: string[]): Mask {
  const width = rows[0]!.length;
  return { width, height: rows.length, data: Uint8Array.from(rows.join(""), (char) => (char === "#" ? 1 : 0)) };
}

function drawn(width: number, height: number, inside: (x: number, y: number) => boolean): Mask {
  const data = new Uint8Array(width * height);
  for (let i = 0; i < data.length; i++) data[i] = inside(i % width, Math.floor(i / width)) ? 1 : 0;
  return { width, height, data };
}

const polygonsOf = ({ geometry }: Footprint) =>
  geometry.type === "Polygon" ? [geometry.coordinates] : geometry.coordinates;

/** What RFC 7946 and every geometry library ask of a polygon. */
function expectValid(footprint: Footprint | null): asserts footprint is Footprint {
  expect(footprint).not.toBeNull();
  for (const [outer, ...holes] of polygonsOf(footprint!)) {
    expect(signedArea(outer!)).toBeGreaterThan(0);
    for (const hole of holes) expect(signedArea(hole)).toBeLessThan(0);
    for (const ring of [outer!, ...holes]) {
      expect(ring.length).toBeGreaterThanOrEqual(4);
      expect(ring[0]).toEqual(ring.at(-1));
      for (const [lon, lat] of ring) expect(Math.abs(lon) <= 180 && Math.abs(lat) <= 90).toBe(true);
    }
    expect(areSimple([outer!, ...holes])).toBe(true);
  }
}

const areaOf = (footprint: Footprint) =>
  polygonsOf(footprint).reduce((sum, rings) => sum + rings.reduce((part, ring) => part + signedArea(ring), 0), 0);

const square: GeoTransform = [10, 0.1, 0, 50, 0, -0.1];
const raster = { width: 100, height: 100, transform: square };

describe("the outline of a mask", () => {
  test("follows the pixels, and a corner joins nothing", () => {
    expect(maskParts(picture("#.", ".#"))).toHaveLength(2);
    expect(maskParts(picture("##", ".#"))).toMatchObject([{ area: 3 }]);
    expect(maskParts(picture("...", "..."))).toEqual([]);
    expect(maskParts(picture("##", "##"))[0]!.outer).toEqual([
      [0, 0],
      [2, 0],
      [2, 2],
      [0, 2],
      [0, 0],
    ]);
  });

  test("knows its holes, and islands in them", () => {
    const parts = maskParts(picture("#######", "#.....#", "#.###.#", "#.#.#.#", "#.###.#", "#.....#", "#######"));
    expect(parts.map(({ area, holes }) => [area, holes.map(signedArea)])).toEqual([
      [49, [-25]],
      [9, [-1]],
    ]);
  });

  test("has the area of its pixels, whatever they are", () => {
    for (let seed = 1; seed < 40; seed++) {
      const mask = drawn(23, 17, (x, y) => (Math.imul(x * 31 + y * 17 + seed, 2654435761) >>> 16) % 3 > 0);
      const area = maskParts(mask).reduce(
        (sum, { outer, holes }) => sum + signedArea(outer) + holes.reduce((s, h) => s + signedArea(h), 0),
        0,
      );
      expect(area).toBe(mask.data.reduce((sum, value) => sum + value, 0));
    }
  });
});

describe("rings", () => {
  test("are simplified within the tolerance, and stay closed", () => {
    const ring: Point[] = [
      [0, 0],
      [5, 0.1],
      [10, 0],
      [10, 10],
      [0, 10],
      [0, 0],
    ];
    expect(simplifyRing(ring, 0.5)).toEqual([
      [0, 0],
      [10, 0],
      [10, 10],
      [0, 10],
      [0, 0],
    ]);
    expect(simplifyRing(ring, 0.05)).toEqual(ring);
  });

  test("that cross, touch or fold back are not simple", () => {
    expect(
      areSimple([
        [
          [0, 0],
          [2, 2],
          [2, 0],
          [0, 2],
          [0, 0],
        ],
      ]),
    ).toBe(false);
    expect(
      areSimple([
        [
          [0, 0],
          [4, 0],
          [2, 0],
          [2, 3],
          [0, 0],
        ],
      ]),
    ).toBe(false);
    expect(
      areSimple([
        [
          [0, 0],
          [4, 0],
          [4, 4],
          [0, 0],
        ],
        [
          [3, 1],
          [9, 1],
          [9, 3],
          [3, 1],
        ],
      ]),
    ).toBe(false);
    expect(
      areSimple([
        [
          [0, 0],
          [4, 0],
          [4, 4],
          [0, 4],
          [0, 0],
        ],
      ]),
    ).toBe(true);
  });

  test("have a hull", () => {
    expect(
      convexHull([
        [0, 0],
        [2, 1],
        [4, 0],
        [4, 4],
        [0, 4],
        [2, 2],
      ]),
    ).toEqual([
      [0, 0],
      [4, 0],
      [4, 4],
      [0, 4],
      [0, 0],
    ]);
  });

  test("are cut into as many parts as the line makes, with nothing lost", () => {
    // A comb: three teeth to the right of x = 2.
    const comb: Point[] = [
      [0, 0],
      [4, 0],
      [4, 1],
      [1, 1],
      [1, 2],
      [4, 2],
      [4, 3],
      [1, 3],
      [1, 4],
      [4, 4],
      [4, 5],
      [0, 5],
      [0, 0],
    ];
    const { left, right } = cutAt(comb, 2);
    expect([left.length, right.length]).toEqual([1, 3]);
    const area = [...left, ...right].reduce((sum, ring) => sum + signedArea(ring), 0);
    expect(area).toBeCloseTo(signedArea(comb), 12);
    expect([...left, ...right].every((ring) => areSimple([ring]))).toBe(true);
    expect(cutAt(comb, 9)).toEqual({ left: [comb], right: [] });
    expect(cutAt(comb, -1)).toEqual({ left: [], right: [comb] });
  });
});

describe("boxes in degrees", () => {
  test("have dense edges, counter-clockwise and closed", () => {
    const ring = denseRing([0, 0, 2, 1], 4);
    expect(ring).toHaveLength(17);
    expect(ring[1]).toEqual([0.5, 0]);
    expect(signedArea(ring)).toBe(2);
  });

  const unions: [string, number[][], Bounds | null][] = [
    ["nothing", [], null],
    ["one box", [[1, 2, 3, 4]], [1, 2, 3, 4]],
    [
      "two boxes",
      [
        [1, 2, 3, 4],
        [5, -1, 6, 0],
      ],
      [1, -1, 6, 4],
    ],
    [
      "both sides of the antimeridian",
      [
        [170, 0, 175, 1],
        [-178, 0, -170, 1],
      ],
      [170, 0, -170, 1],
    ],
    [
      "one across the antimeridian",
      [
        [170, 0, -170, 1],
        [-160, 0, -150, 1],
      ],
      [170, 0, -150, 1],
    ],
    [
      "far apart",
      [
        [-100, 0, -90, 1],
        [60, 0, 70, 1],
      ],
      [-100, 0, 70, 1],
    ],
    ["all round", [[-180, -10, 180, 10]], [-180, -10, 180, 10]],
    [
      "halves of the globe",
      [
        [-180, 0, 0, 1],
        [0, 0, 180, 1],
      ],
      [-180, 0, 180, 1],
    ],
    ["a box with heights", [[1, 2, 0, 3, 4, 100]], [1, 2, 3, 4]],
    ["a box up to the antimeridian", [[170, 0, 180, 1]], [170, 0, 180, 1]],
    ["a box from the antimeridian", [[-180, 0, -170, 1]], [-180, 0, -170, 1]],
    ["what is not a number", [[Number.NaN, 0, 1, 1]], null],
  ];
  test.each(unions)("around %s", (_, boxes, expected) => {
    expect(unionBboxes(boxes)).toEqual(expected);
  });

  test("over the antimeridian have a west that is greater than east", () => {
    expect(
      wgs84Bbox([
        [179, 1],
        [-179, 1],
        [-179, 2],
        [179, 2],
        [179, 1],
      ]),
    ).toEqual([179, 1, -179, 2]);
    expect(
      wgs84Bbox([
        [170, 1],
        [190, 1],
        [190, 2],
        [170, 2],
        [170, 1],
      ]),
    ).toEqual([170, 1, -170, 2]);
    expect(wgs84Bbox([null, [1, 1], [2, 2], null])).toEqual([1, 1, 2, 2]);
    expect(wgs84Bbox([null, null])).toBeNull();
    expect(interval(-180, -170)).toEqual([-180, -170]);
    expect(interval(170, 180)).toEqual([170, 180]);
    expect(interval(180, 190)).toEqual([-180, -170]);
    expect(interval(0, 400)).toEqual([-180, 180]);
  });

  test("around a pole reach all longitudes", async () => {
    const box: Bounds = [-1e6, -1e6, 1e6, 1e6];
    const north = await wgs84BoundsOf(box, polar(1));
    expect(north).toMatchObject({ 0: -180, 2: 180, 3: 90 });
    expect(north![1]).toBeGreaterThan(75);
    expect(await wgs84BoundsOf(box, polar(-1))).toMatchObject({ 0: -180, 1: -90, 2: 180 });
    expect(unwrap(denseRing([170, 0, 190, 1]).map(([lon, lat]): Point => [wrapLongitude(lon), lat])).turns).toBe(0);
  });

  test("bulge with the projection, which corners alone would miss", async () => {
    // Beside the pole, the edge of a square reaches farther north than its corners.
    const [, , , north] = (await wgs84BoundsOf([-1e6, -3e6, 1e6, -1e6], polar(1)))!;
    const [corner] = await polar(1)([[-1e6, -1e6]]);
    expect(north).toBeGreaterThan(corner![1] + 1);
  });
});

describe("a footprint", () => {
  test("of a full raster is its box, with no more points than needed", async () => {
    const footprint = await footprintOf(null, raster, degrees);
    expectValid(footprint);
    expect(footprint.bbox).toEqual([10, 40, 20, 50]);
    expect(footprint.geometry.coordinates[0]).toHaveLength(5);
    expect(
      await footprintOf(
        drawn(10, 10, () => true),
        raster,
        degrees,
      ),
    ).toEqual(footprint);
  });

  test("leaves out what has no data", async () => {
    const wedge = drawn(200, 200, (x, y) => x + y < 200);
    const footprint = await footprintOf(wedge, raster, degrees);
    expectValid(footprint);
    expect(areaOf(footprint)).toBeGreaterThan(49);
    expect(areaOf(footprint)).toBeLessThan(51.5);
    expect(footprint.geometry.coordinates[0]!.length).toBeLessThan(12);
    expect(
      await footprintOf(
        drawn(9, 9, () => false),
        raster,
        degrees,
      ),
    ).toBeNull();
  });

  test("has straight edges where those of the data are, whatever their slope, and no stairs", async () => {
    // A scene that was turned a little, as a reprojection leaves it: four edges, with a few points where they meet.
    for (const degrees_turned of [0.7, 2, 5, 13, 27, 45, 61, 84]) {
      const angle = (degrees_turned * Math.PI) / 180;
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      const turned = drawn(400, 400, (x, y) => {
        const [dx, dy] = [x + 0.5 - 200, y + 0.5 - 200];
        return Math.abs(dx * cos + dy * sin) < 120 && Math.abs(dy * cos - dx * sin) < 90;
      });
      const footprint = await footprintOf(turned, raster, degrees);
      expectValid(footprint);
      expect(footprint.geometry.coordinates[0]!.length).toBeLessThanOrEqual(12);
      // A pixel of the mask is 0.025 degrees a side, and the outline is 840 of them long.
      expect(Math.abs(areaOf(footprint) - 240 * 180 * 0.025 ** 2)).toBeLessThan(840 * 0.5 * 0.025 ** 2);
    }
  });

  test("drops or keeps holes, and drops specks", async () => {
    const lake = drawn(100, 100, (x, y) => Math.hypot(x - 50, y - 50) > 20);
    const without = await footprintOf(lake, raster, degrees);
    expectValid(without);
    expect(without.geometry.coordinates).toHaveLength(1);
    const kept = await footprintOf(lake, raster, degrees, { keep_holes: true });
    expectValid(kept);
    expect(kept.geometry.coordinates).toHaveLength(2);
    expect(areaOf(kept)).toBeCloseTo(100 - Math.PI * 4, 0);
    const speck = drawn(100, 100, (x, y) => (x < 50 && y < 50) || (x === 90 && y === 90));
    expect((await footprintOf(speck, raster, degrees))!.geometry.type).toBe("Polygon");
  });

  test("of two islands is two polygons, of a hundred one around them", async () => {
    const two = await footprintOf(
      drawn(100, 100, (x) => x < 30 || x > 60),
      raster,
      degrees,
    );
    expectValid(two);
    expect(two.geometry.type).toBe("MultiPolygon");
    const many = await footprintOf(
      drawn(100, 100, (x, y) => x % 10 < 5 && y % 10 < 5),
      raster,
      degrees,
    );
    expectValid(many);
    expect(many.geometry.type).toBe("Polygon");
    expect(many.bbox).toEqual([10, 40.5, 19.5, 50]);
  });

  test("keeps to its number of vertices on a ragged coast, and stays simple", async () => {
    for (let seed = 1; seed <= 8; seed++) {
      const ragged = drawn(256, 256, (x, y) => {
        const angle = Math.atan2(y - 128, x - 128);
        return (
          Math.hypot(x - 128, y - 128) <
          80 + 20 * Math.sin(angle * 7 + seed) + 12 * Math.sin(angle * 23 * seed) + ((x * 7 + y * 13 * seed) % 5)
        );
      });
      const footprint = await footprintOf(ragged, raster, degrees, { max_vertices: 60 });
      expectValid(footprint);
      expect(polygonsOf(footprint).flat(2).length).toBeLessThanOrEqual(60);
      expect(contains(polygonsOf(footprint)[0]![0]!, [15, 45])).toBe(true);
    }
  });

  test("of a spiral with thin arms stays simple, however few vertices it may have", async () => {
    const spiral = drawn(160, 160, (x, y) => {
      const [dx, dy] = [x - 80, y - 80];
      const turn = (Math.hypot(dx, dy) - (Math.atan2(dy, dx) / Math.PI) * 6) / 12;
      return Math.hypot(dx, dy) < 78 && turn - Math.floor(turn) < 0.5;
    });
    for (const max_vertices of [300, 120, 60, 30, 10]) {
      const footprint = await footprintOf(spiral, raster, degrees, { max_vertices });
      expectValid(footprint);
      expect(polygonsOf(footprint).flat(2).length).toBeLessThanOrEqual(max_vertices);
    }
  });

  test("is cut at the antimeridian", async () => {
    const pacific = { width: 100, height: 50, transform: [175, 0.1, 0, 5, 0, -0.1] as GeoTransform };
    const footprint = await footprintOf(null, pacific, async (points) =>
      points.map(([lon, lat]) => [wrapLongitude(lon), lat]),
    );
    expectValid(footprint);
    expect(footprint.bbox).toEqual([175, 0, -175, 5]);
    expect(polygonsOf(footprint)).toHaveLength(2);
    expect(areaOf(footprint)).toBeCloseTo(50, 6);
    const shifted = await footprintOf(null, { ...pacific, transform: [-185, 0.1, 0, 5, 0, -0.1] }, degrees);
    expect(shifted).toEqual({ ...footprint, geometry: expect.anything() });
    expect(areaOf(shifted!)).toBeCloseTo(50, 6);
  });

  test("of a grid from 0 to 360 degrees is the whole globe", async () => {
    const footprint = await footprintOf(null, { width: 360, height: 180, transform: [0, 1, 0, 90, 0, -1] }, degrees);
    expectValid(footprint);
    expect(footprint.bbox).toEqual([-180, -90, 180, 90]);
    expect(areaOf(footprint)).toBeCloseTo(360 * 180, 6);
  });

  test("of Web Mercator's whole square is the globe up to 85 degrees", async () => {
    const edge = Math.PI * earth;
    const footprint = await footprintOf(
      null,
      { width: 256, height: 256, transform: [-edge, (2 * edge) / 256, 0, edge, 0, (-2 * edge) / 256] },
      mercator,
    );
    expectValid(footprint);
    expect(footprint.bbox).toEqual([-180, -85.0511288, 180, 85.0511288]);
  });

  test("over a pole includes it", async () => {
    for (const sign of [1, -1] as const) {
      const arctic = { width: 200, height: 200, transform: [-1e6, 1e4, 0, 1e6, 0, -1e4] as GeoTransform };
      const footprint = await footprintOf(null, arctic, polar(sign));
      expectValid(footprint);
      expect(footprint.bbox[sign === 1 ? 3 : 1]).toBe(sign * 90);
      const inside = (point: Point) => polygonsOf(footprint).some(([outer]) => contains(outer!, point));
      expect([-170, -91, 3, 100, 179].every((lon) => inside([lon, sign * 89]))).toBe(true);
      expect(inside([10, sign * 60])).toBe(false);
    }
  });

  test("bends with the projection", async () => {
    const beside = { width: 200, height: 200, transform: [-1e6, 1e4, 0, -1e6, 0, -1e4] as GeoTransform };
    const footprint = await footprintOf(null, beside, polar(1));
    expectValid(footprint);
    expect(footprint.geometry.coordinates[0]!.length).toBeGreaterThan(20);
  });

  test("does without the points that cannot be transformed, and is null without any", async () => {
    const some: PointTransform = async (points) => points.map((point) => (point[0] > 19.9 ? null : point));
    expectValid(await footprintOf(null, raster, some));
    expect(await footprintOf(null, raster, async (points) => points.map(() => null))).toBeNull();
    expect(
      await footprintOf(null, raster, async (points) => points.map(() => [Number.NaN, Number.POSITIVE_INFINITY])),
    ).toBeNull();
  });

  test("of a rotated raster is rotated", async () => {
    const footprint = await footprintOf(null, { width: 10, height: 10, transform: [0, 1, 1, 0, 1, -1] }, degrees);
    expectValid(footprint);
    expect(areaOf(footprint)).toBeCloseTo(200, 6);
    expect(footprint.bbox).toEqual([0, -10, 20, 10]);
  });
});
