import { describe, expect, test } from "vitest";
import { groupBands } from "../../../src/handlers/raster/group_bands.js";
import { itemIdOf, nameSources } from "../../../src/handlers/raster/item_ids.js";
import { compareNaturally, fitsGlob, patternProblem, readName } from "../../../src/handlers/raster/name_pattern.js";

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

describe("a pattern with names in braces", () => {
  test("takes names apart, each as little as it can", () => {
    expect(readName("{kind}_{year}_{rp}_{tile}.tif", "FD_2030_1in100_n05w004.tif")).toEqual({
      kind: "FD",
      year: "2030",
      rp: "1in100",
      tile: "n05w004",
    });
    expect(readName("{a}_{b}.tif", "x_y_z.tif")).toEqual({ a: "x", b: "y_z" });
    expect(readName("{a}.tif", "x.tif.tif")).toEqual({ a: "x.tif" });
    expect(readName("scenes/{a}/{b}.tif", "scenes/one/two.tif")).toEqual({ a: "one", b: "two" });
    expect(readName("{a}", "x")).toEqual({ a: "x" });
  });

  test.each([
    ["{a}_{b}.tif", "x.tif"],
    ["{a}_{b}.tif", "_y.tif"],
    ["{a}_{b}.tif", "x_.tif"],
    ["{a}_{b}.tif", "x_y.tiff"],
    ["{a}_{b}.tif", "f/x_y.tif"],
    ["p{a}", "x"],
  ])("%s does not fit %s", (pattern, path) => {
    expect(readName(pattern, path)).toBeNull();
  });

  test.each(["", "x.tif", "{a", "a}", "{a}{b}.tif", "{a}_{a}.tif", "{A}.tif", "{}.tif", "{{a}}.tif", "}a{.tif"])(
    "%s is refused with a reason",
    (pattern) => {
      expect(patternProblem(pattern)).toEqual(expect.any(String));
    },
  );
});

test("bands sort as people count", () => {
  expect(["rp100", "rp5", "rp10", "a", "rp05", "rp5x"].sort(compareNaturally)).toEqual([
    ..."a rp05 rp5 rp5x rp10 rp100".split(" "),
  ]);
});

describe("ids of items", () => {
  test.each([
    ["scenes/dem 2024.tif", "scenes-dem-2024"],
    ["https://example.org/a/Żółw.TIFF?x=1", "a-Zo-w"],
    ["a.cog.tif", "a"],
    [".hidden.tif", "hidden"],
    ["数.tif", expect.stringMatching(/^raster-[0-9a-f]{8}$/)],
  ])("%s is %s", (path, id) => {
    expect(itemIdOf(path)).toEqual(id);
  });

  test("of any file are short enough to be followed by the place of a tile", () => {
    const long = itemIdOf(`${"x".repeat(500)}.tif`);
    expect(long.length).toBeLessThanOrEqual(110);
    expect(long).not.toBe(itemIdOf(`${"x".repeat(501)}.tif`));
  });

  test("that come to the same are told apart, whatever the order", () => {
    const files = ["a b.tif", "a-b.tif", "c.tif"].map((path) => ({ source: `bronze:${path}`, path }));
    const ids = (list: typeof files) => Object.fromEntries(nameSources(list).map((one) => [one.source, one.item_id]));
    expect(new Set(Object.values(ids(files))).size).toBe(3);
    expect(ids([...files].reverse())).toEqual(ids(files));
    expect(ids(files)["bronze:c.tif"]).toBe("c");
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

  test("of no group at all are told with names there are", () => {
    expect(() => groupBands(files(["a.txt", "b.txt"]), given)).toThrow(/is called .*; there are "a.txt", "b.txt"/);
  });
});
