// What the map and the catalogue's pages decide by themselves: shapes over the antimeridian, what a search means, what a file's facts say.
import { describe, expect, test } from "vitest";
import { bytesText, checksumText } from "../../dashboard/src/pages/catalog/files.js";
import { boxOf, datetimeOf, filterOf } from "../../dashboard/src/pages/catalog/search.js";
import {
  boxAround,
  boxText,
  placeText,
  polygonOf,
  roughly,
  viewOf,
  worstIn,
} from "../../dashboard/src/pages/map/shapes.js";
import { cql2FromText } from "../../src/geo/cql2/text.js";

describe("shapes on the map", () => {
  test("a box over the antimeridian runs on beyond 180 instead of round the globe", () => {
    expect(polygonOf([179.5, -18, -179.5, -17]).coordinates[0]).toEqual([
      [179.5, -18],
      [180.5, -18],
      [180.5, -17],
      [179.5, -17],
      [179.5, -18],
    ]);
  });

  test("a view is told between -180 and 180, and is the globe when that is seen more than once", () => {
    expect(viewOf(170, -20, 190, 20)).toEqual([170, -20, -170, 20]);
    expect(viewOf(-200, -20, -190, 20)).toEqual([160, -20, 170, 20]);
    expect(viewOf(-300, -95, 300, 95)).toEqual([-180, -90, 180, 90]);
  });

  test("where several tasks are, the worst is shown", () => {
    expect(worstIn({ completed: 900, failed: 1 })).toBe("failed");
    expect(worstIn({ completed: 900, cancelled: 1, retrying: 2 })).toBe("retrying");
    expect(worstIn({ completed: 900, skipped: 3, queued: 1 })).toBe("queued");
    expect(worstIn({})).toBe("queued");
  });

  test("the box around a geometry is found in its points, whatever they are nested in", () => {
    expect(boxAround({ type: "Point", coordinates: [8, 47] })).toEqual([8, 47, 8, 47]);
    const ring = [
      [6, 45],
      [10, 45],
      [10, 48],
      [6, 45],
    ];
    expect(boxAround({ type: "MultiPolygon", coordinates: [[ring]] })).toEqual([6, 45, 10, 48]);
    expect(boxAround({ type: "MultiPoint", coordinates: [] })).toBeNull();
    expect(boxAround(null)).toBeNull();
  });

  test("places are told with as many decimals as their size deserves", () => {
    expect(placeText(8.54321, 47.3769, 100)).toBe("47° N, 9° E");
    expect(placeText(-8.54321, -47.3769, 0.1)).toBe("47.377° S, 8.543° W");
    expect(boxText([179, -18, -179, -17])).toBe("18.00° S, 179.00° E to 17.00° S, 179.00° W");
  });

  test("more ranges than fit into an address are taken together where they are closest, and nothing is lost", () => {
    const ranges = Array.from({ length: 1000 }, (_, i): [number, number] => [i * 10, i * 10 + (i === 500 ? 1 : 5)]);
    const few = roughly(ranges, 100);
    expect(few.length).toBeLessThanOrEqual(100);
    expect(few[0]![0]).toBe(0);
    expect(few.at(-1)![1]).toBe(9995);
    const isCovered = ([lo, hi]: readonly [number, number]) => few.some(([from, to]) => from <= lo && hi <= to);
    expect(ranges.every(isCovered)).toBe(true);
    expect(roughly(ranges.slice(0, 50), 100)).toEqual(ranges.slice(0, 50));
  });
});

describe("a search for items", () => {
  const parsed = (text: string) => cql2FromText(filterOf(text).filter!);

  test("words are parts of ids, comparisons are about properties, and all of them must fit", () => {
    expect(filterOf("  ")).toEqual({ filter: undefined, problem: null });
    expect(filterOf("tile-1").filter).toBe("id LIKE '%tile-1%'");
    expect(filterOf('gsd<=10 platform="Landsat 8"').filter).toBe(`"gsd" <= 10 AND "platform" = 'Landsat 8'`);
    expect(filterOf('gsd=""').problem).toContain("nothing");
  });

  test("whatever is written is understood by the catalogue, and says no more than it says", () => {
    for (const text of ["o'hara", "100%_", "a'; drop table x; --", 'title="it\'s"', "fanfold:job_id=abc", "\\", "("]) {
      expect(() => parsed(text), text).not.toThrow();
    }
    expect(filterOf('"').filter).toBeUndefined();
    expect(filterOf('"half a na').filter).toBe("id LIKE '%half a na%'");
    expect(filterOf("100%_").filter).toBe("id LIKE '%100\\%\\_%'");
  });

  test("days are a span with open ends", () => {
    expect(datetimeOf("", "")).toBeUndefined();
    expect(datetimeOf("2024-05-01", "")).toBe("2024-05-01T00:00:00Z/..");
    expect(datetimeOf("", "2024-05-01")).toBe("../2024-05-01T23:59:59.999Z");
  });

  test("a box in the address is four numbers or none", () => {
    expect(boxOf("6,45,10.5,48")).toEqual([6, 45, 10.5, 48]);
    for (const text of ["", "1,2,3", "a,b,c,d", "1,2,3,4,5"]) expect(boxOf(text), text).toBeNull();
  });
});

describe("facts of files", () => {
  test("sizes and checksums are told as people read them", () => {
    expect([0, 999, 12_345, 12_345_678, 5e12].map(bytesText)).toEqual(["0 B", "999 B", "12.3 KB", "12.3 MB", "5 TB"]);
    for (const none of [undefined, "5", -1, Number.NaN]) expect(bytesText(none)).toBe("–");
    expect(checksumText(`1220${"ab".repeat(32)}`)).toBe(`sha256:${"ab".repeat(32)}`);
    expect(checksumText("1114deadbeef")).toBe("multihash:1114deadbeef");
    expect(checksumText("<script>")).toBeNull();
  });
});
