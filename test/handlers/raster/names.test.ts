import { describe, expect, test } from "vitest";
import { groupBands } from "../../../src/handlers/raster/handlers/group_bands.js";
import { fitsGlob } from "../../../src/handlers/raster/source/glob.js";
import { itemIdOf, nameSources } from "../../../src/handlers/raster/source/item_ids.js";

describe("a glob", () => {
  test.each([
    ["**/*.tif", "a.tif", true],
    ["**/*.tif", "x/y/a.tif", true],
    ["**/*.tif", "a.tiff", false],
    ["*.tif", "x/a.tif", false],
    ["x/**", "x/y/z", true],
    ["x/**", "xy", false],
    ["x/**/a?.tif", "x/a1.tif", true],
    ["x/**/a?.tif", "x/1/2/ab.tif", true],
    ["x/**/a?.tif", "x/1/2/a/.tif", false],
    ["dem_*_v2.tif", "dem_a_b_v2.tif", true],
    ["**", "anything/at/all", true],
    ["", "a", false],
    ["*", "", true],
    ["😀?.tif", "😀😀.tif", true],
    [".*+(x).tif", "aaax.tif", false],
  ])("%s over %s is %s", (glob, path, fits) => {
    expect(fitsGlob(glob, path)).toBe(fits);
  });

  test("that would take a regular expression for ever is answered at once", () => {
    expect(fitsGlob("*a".repeat(200), `${"a".repeat(2000)}b`)).toBe(false);
  });
});

describe("ids of items", () => {
  test.each([
    ["bronze:scenes/dem 2024.tif", "dem-2024"],
    ["https://example.org/a/b.TIFF?x=1", "b"],
    ["bronze:.hidden.tif", "hidden"],
  ])("%s is %s", (source, id) => {
    expect(itemIdOf(source)).toBe(id);
  });

  test("tell folders apart, whatever the order", () => {
    const files = ["a b.tif", "a-b.tif", "x/c.tif", "y/c.tif"].map((path) => ({ source: `bronze:${path}`, path }));
    const ids = (list: typeof files) => Object.fromEntries(nameSources(list).map((one) => [one.source, one.item_id]));
    expect(new Set(Object.values(ids(files))).size).toBe(4);
    expect(ids([...files].reverse())).toEqual(ids(files));
    expect(ids(files)["bronze:x/c.tif"]).toBe("x-c");
  });
});

describe("bands", () => {
  const files = (names: string[]) => names.map((name) => `bronze:fathom/civ/${name}`);
  const given = {
    prefix: "bronze:fathom/civ/",
    pattern: "{kind}_{rp}_{tile}.tif",
    band: "rp",
    incomplete: "refuse" as const,
  };

  test("are grouped by everything else in their names, in natural order", () => {
    const { groups, band_names, unfitting } = groupBands(
      files([
        "FD_100_n5.tif",
        "FD_5_n5.tif",
        "FD_20_n5.tif",
        "FD_5_n6.tif",
        "FD_20_n6.tif",
        "FD_100_n6.tif",
        "readme.txt",
      ]),
      given,
    );
    expect(band_names).toEqual(["5", "20", "100"]);
    expect(groups).toEqual([
      {
        item_id: "FD_n5",
        bands: ["5", "20", "100"].map((name) => ({ name, source: `bronze:fathom/civ/FD_${name}_n5.tif` })),
        properties: { kind: "FD", tile: "n5" },
      },
      expect.objectContaining({ item_id: "FD_n6" }),
    ]);
    expect(unfitting).toEqual(["readme.txt"]);
  });

  test("that are missing are refused by name, left out, or allowed", () => {
    const gappy = files(["FD_5_n5.tif", "FD_20_n5.tif", "FD_5_n6.tif"]);
    expect(() => groupBands(gappy, given)).toThrow(/1 of 2 groups lack bands: FD_n6 lacks 20/);
    expect(groupBands(gappy, { ...given, incomplete: "skip" })).toMatchObject({
      group_count: 1,
      incomplete: [{ item_id: "FD_n6", missing: ["20"] }],
    });
    const allowed = groupBands(gappy, { ...given, incomplete: "allow" });
    expect(allowed.groups.map(({ bands }) => bands.length)).toEqual([2, 1]);
  });

  test("that nobody asked for are left out, and a wanted order is kept", () => {
    const { groups } = groupBands(files(["FD_5_n5.tif", "FD_20_n5.tif", "FD_100_n5.tif"]), {
      ...given,
      band_order: ["100", "5"],
    });
    expect(groups[0]!.bands.map(({ name }) => name)).toEqual(["100", "5"]);
  });

  test("that two files claim to be are refused by name", () => {
    const twins = files(["FD_5_n5_a.tif", "FD_5_n5_b.tif"]);
    expect(() => groupBands(twins, { ...given, pattern: "{kind}_{rp}_{tile}_*.tif" })).toThrow(
      /1 files? are bands .*n5_b/,
    );
  });

  test("of no group at all are told with names there are", () => {
    expect(() => groupBands(files(["a.txt", "b.txt"]), given)).toThrow(/fits .*; there are "a.txt", "b.txt"/);
  });
});
