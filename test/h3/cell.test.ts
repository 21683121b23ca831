// Numbers and outlines of cells, compared with h3-js itself.
import * as h3 from "h3-js";
import { expect, test } from "vitest";
import {
  allBaseCells,
  cellIndex,
  cellNumber,
  childrenOf,
  descendantCount,
  forEachDescendant,
  isPentagon,
  parentOf,
  reachOf,
  readCell,
  resolutionOf,
  splitIndex,
} from "../../src/geo/h3/cell.js";
import { cellRings } from "../../src/geo/h3/cell_polygon.js";

const somewhere = Array.from({ length: 16 }, (_, resolution) => h3.latLngToCell(47.3, 8.5, resolution));

test("a cell's number is exact at every resolution and leads back to its index", () => {
  for (const index of [...somewhere, ...Array.from({ length: 16 }, (_, r) => h3.getPentagons(r)).flat()]) {
    const cell = cellNumber(index);
    expect(Number.isSafeInteger(cell)).toBe(true);
    expect(cellIndex(cell)).toBe(index);
    expect(resolutionOf(cell)).toBe(h3.getResolution(index));
    expect(h3.splitLongToH3Index(...splitIndex(cell))).toBe(index);
    expect(isPentagon(cell)).toBe(h3.isPentagon(index));
    if (resolutionOf(cell) > 0) expect(cellIndex(parentOf(cell, 0))).toBe(h3.cellToParent(index, 0));
  }
  expect(readCell("8928308280FFFFF")).toBe(cellNumber("8928308280fffff"));
  for (const wrong of ["", "8928308280ffff", "8928308280fffffz", "0928308280fffff", "8928308280ffffe"]) {
    expect(readCell(wrong)).toBeNull();
  }
});

test("descendants are H3's own, of hexagons and of pentagons, each once and in order", () => {
  for (const index of [somewhere[3]!, ...h3.getPentagons(2).slice(0, 3), h3.getPentagons(0)[0]!]) {
    for (const depth of [0, 1, 2, 4]) {
      const found: number[] = [];
      forEachDescendant(cellNumber(index), depth, (cell) => found.push(cell));
      const expected = h3.cellToChildren(index, h3.getResolution(index) + depth);
      expect(found.map(cellIndex)).toEqual(expected);
      expect(descendantCount(cellNumber(index), depth)).toBe(expected.length);
      expect(found).toEqual([...found].sort((a, b) => a - b));
    }
    expect(childrenOf(cellNumber(index)).map(cellIndex)).toEqual(h3.cellToChildren(index, h3.getResolution(index) + 1));
  }
  expect(allBaseCells().map(cellIndex).sort()).toEqual(h3.getRes0Cells().sort());
});

test("no descendant lies farther from a cell than its reach", () => {
  for (const index of [...h3.getRes0Cells(), ...somewhere.slice(1, 9)]) {
    const resolution = h3.getResolution(index);
    const centre = h3.cellToLatLng(index);
    const corners = h3.cellToChildren(index, resolution + 2).flatMap((child) => h3.cellToBoundary(child));
    const farthest = Math.max(...corners.map((corner) => h3.greatCircleDistance(centre, corner, "rads")));
    expect(farthest).toBeLessThan(reachOf(resolution));
  }
});

test("outlines stay within the map, run counter-clockwise and cover the sphere once", () => {
  for (const resolution of [0, 1, 2]) {
    let covered = 0;
    let cut = 0;
    for (const base of allBaseCells()) {
      forEachDescendant(base, resolution, (cell) => {
        const rings = cellRings(cell);
        cut += rings.length - 1;
        for (const ring of rings) {
          expect(ring[0]).toEqual(ring.at(-1));
          let area = 0;
          ring.slice(1).forEach(([x, y], i) => {
            const [before_x, before_y] = ring[i]!;
            expect(Math.abs(x - before_x) <= 180 || Math.abs(y) === 90).toBe(true);
            area += (before_x * y - x * before_y) / 2;
          });
          expect(area).toBeGreaterThan(0);
          covered += area;
        }
      });
    }
    expect(cut).toBeGreaterThan(3);
    // As a plane of 360° by 180°: neighbours share their corners, so nothing is missing and nothing is there twice.
    expect(covered).toBeCloseTo(360 * 180, 6);
  }
});
