import { describe, expect, test } from "vitest";
import { BadRequest } from "../../src/core/errors/errors.js";
import { checkHomogeneity, type Member } from "../../src/geo/homogeneity.js";
import { groupNames, naturally } from "../../src/geo/name_groups.js";
import { compileNamePattern } from "../../src/geo/name_pattern.js";

describe("a name pattern", () => {
  const cases: [string, string, Record<string, string> | null][] = [
    [
      "{region}_{return_period}_{tile}.tif",
      "civ_1in100_n05w004.tif",
      { region: "civ", return_period: "1in100", tile: "n05w004" },
    ],
    ["{region}_{tile}.tif", "fathom/silver/civ_n05.tif", { region: "civ", tile: "n05" }],
    ["{year:digits}/{tile}.tif", "2024/n05.tif", { year: "2024", tile: "n05" }],
    ["{a}.tif", "x.tiff", null],
    ["{a}.tif", ".tif", null],
    ["{a}_{b}.tif", "one_two_three.tif", { a: "one", b: "two_three" }],
    ["{a}_{b:digits}.tif", "one_two_3.tif", { a: "one_two", b: "3" }],
    ["{a:letters}{b:digits}.tif", "abc123.tif", { a: "abc", b: "123" }],
    ["{kind:fluvial|pluvial}-{tile}.tif", "pluvial-n1.tif", { kind: "pluvial", tile: "n1" }],
    ["{kind:fluvial|pluvial}-{tile}.tif", "coastal-n1.tif", null],
    ["{p:1in10|1in100}.tif", "1in100.tif", { p: "1in100" }],
    ["*_{tile}.tif", "anything_at_all_n1.tif", { tile: "at_all_n1" }],
    ["*_{tile:word}.tif", "anything_at_all_n1.tif", { tile: "n1" }],
    ["{{{a}}}.tif", "{x}.tif", { a: "x" }],
    ["{a}(1).tif", "x(1).tif", { a: "x" }],
    ["{a}+.tif", "xx.tif", null],
    ["{all:path}/x.tif", "a/b/c/x.tif", { all: "a/b/c" }],
    ["{a}/x.tif", "a/b/x.tif", null],
  ];
  test.each(cases)("%s takes %s apart", (pattern, name, expected) => {
    expect(compileNamePattern(pattern).match(name)).toEqual(expected);
  });

  const wrong: [string, RegExp][] = [
    ["scene.tif", /there is no field/],
    ["{a}_{a}.tif", /the field a stands there twice/],
    ["{a}{b}.tif", /nothing between/],
    ["{A B}.tif", /is not a name for a field/],
    ["{a:weird}.tif", /no kind of field/],
    ["{a:constructor}.tif", /no kind of field/],
    ["{__proto__}.tif", /is not a name for a field/],
    ["{a.tif", /never closed/],
    ["a}.tif", /never opened/],
    [`{a}${"x".repeat(600)}`, /603 characters/],
    ["(?<a>.*)+$", /there is no field/],
  ];
  test.each(wrong)("%s is refused in words", (pattern, words) => {
    expect(() => compileNamePattern(pattern)).toThrow(BadRequest);
    expect(() => compileNamePattern(pattern)).toThrow(words);
  });

  test("that would blow up a regular expression is matched in bounded time", () => {
    const pattern = compileNamePattern(`${Array.from({ length: 25 }, (_, i) => `{f${i}}a`).join("")}!.tif`);
    expect(pattern.match(`${"a".repeat(1000)}.tif`)).toBeNull();
    expect(pattern.match(`${"a".repeat(5000)}.tif`)).toBeNull();
  });
});

describe("files", () => {
  const periods = ["1in5", "1in10", "1in20", "1in50", "1in75", "1in100", "1in200", "1in500"];
  const tiles = ["n04w003", "n05w004", "n10w008"];
  const fathom = tiles.flatMap((tile) => periods.map((period) => `FLOOD/civ_${period}_${tile}.tif`)).sort();

  test("of a flood model become one group for each tile, with return periods as bands in their order", () => {
    const { groups, bands, unmatched } = groupNames(fathom, {
      pattern: "{region}_{return_period}_{tile}.tif",
      band_field: "return_period",
    });
    expect(bands).toEqual(periods);
    expect(unmatched).toEqual([]);
    expect(groups.map(({ key }) => key)).toEqual(["civ_n04w003", "civ_n05w004", "civ_n10w008"]);
    expect(groups[0]).toMatchObject({ fields: { region: "civ", tile: "n04w003" }, missing: [], duplicates: [] });
    expect(groups[0]!.members.map(({ band }) => band)).toEqual(periods);
    expect(groups[0]!.members[1]).toEqual({ band: "1in10", name: "FLOOD/civ_1in10_n04w003.tif" });
  });

  test("that are missing, double or of another name are told", () => {
    const names = [
      ...fathom.filter((name) => !name.endsWith("1in20_n05w004.tif")),
      "copy/civ_1in5_n04w003.tif",
      "README.md",
    ];
    const { groups, unmatched } = groupNames(names, {
      pattern: "{region}_{return_period}_{tile}.tif",
      band_field: "return_period",
    });
    expect(unmatched).toEqual(["README.md"]);
    expect(groups[1]!.missing).toEqual(["1in20"]);
    expect(groups[0]!.duplicates).toEqual(["copy/civ_1in5_n04w003.tif"]);
    expect(groups[0]!.members).toHaveLength(8);
  });

  test("can be grouped by some fields only, with bands in an order given", () => {
    const { groups, bands, unmatched } = groupNames(fathom, {
      pattern: "{region}_{return_period}_{tile}.tif",
      band_field: "return_period",
      group_fields: ["tile"],
      band_order: ["1in100", "1in5", "1in1000"],
    });
    expect(bands).toEqual(["1in100", "1in5"]);
    expect(groups[0]).toMatchObject({ key: "n04w003", fields: { tile: "n04w003" } });
    expect(unmatched).toHaveLength(18);
  });

  test("cannot be grouped by fields that are not there", () => {
    const grouping = () =>
      groupNames([], {
        pattern: "{a}_{b}.tif",
        band_field: "c",
        group_fields: ["a", "d", "c"],
        band_order: ["x", "x"],
      });
    expect(grouping).toThrow(/\$\.band_field.*\$\.group_fields\[1\].*\$\.group_fields\[2\].*\$\.band_order/s);
  });

  test("are in the order a person would give them", () => {
    expect(["b10", "b9", "a", "b9a", "1in5", "1in10", "b09"].sort(naturally)).toEqual([
      "1in5",
      "1in10",
      "a",
      "b09",
      "b9",
      "b9a",
      "b10",
    ]);
  });

  test("of 15,392 are grouped at once", () => {
    const many = Array.from({ length: 1924 }, (_, tile) =>
      periods.map((period) => `civ_${period}_t${tile}.tif`),
    ).flat();
    const { groups } = groupNames(many, {
      pattern: "{region}_{return_period}_{tile}.tif",
      band_field: "return_period",
    });
    expect(groups).toHaveLength(1924);
    expect(groups[1923]).toMatchObject({ key: "civ_t1923", missing: [] });
  });
});

describe("rasters of one collection", () => {
  const member = (name: string, more: Partial<Member> = {}): Member => ({
    name,
    band_count: 1,
    data_type: "float32",
    crs: "EPSG:32636",
    pixel_size: [10, 10],
    raster_type: "dem",
    nodata: -9999,
    ...more,
  });
  const same = ["a", "b", "c"].map((name) => member(name));

  test("are of one kind when nothing differs", () => {
    expect(checkHomogeneity(same)).toMatchObject({
      ok: true,
      differences: [],
      common: { crs: "EPSG:32636", pixel_size: [10, 10] },
    });
    expect(checkHomogeneity([])).toEqual({ ok: true, common: null, differences: [] });
    expect(checkHomogeneity([...same, member("d", { pixel_size: [11.9, 9] })]).ok).toBe(true);
  });

  test("have every difference told, with the name", () => {
    const odd = member("odd", {
      band_count: 3,
      data_type: "uint8",
      crs: "EPSG:4326",
      raster_type: "rgb",
      nodata: null,
    });
    const { ok, differences } = checkHomogeneity([...same, odd, member("fine", { pixel_size: [5, 5] })]);
    expect(ok).toBe(false);
    expect(differences.map(({ name, code }) => `${name} ${code}`)).toEqual([
      "odd band_count_differs",
      "odd data_type_differs",
      "odd crs_differs",
      "odd raster_type_differs",
      "odd nodata_value_differs",
      "fine resolution_differs",
    ]);
    expect(differences.at(-1)!.message).toBe("fine has pixel size 5 × 5; most have 10 × 10.");
  });

  test("may have different CRS when all are reprojected, and a warning does not stop them", () => {
    const zones = [...same, member("z", { crs: "EPSG:32637" }), member("n", { nodata: 0 })];
    expect(checkHomogeneity(zones).ok).toBe(false);
    expect(checkHomogeneity(zones, { allow_crs: true })).toMatchObject({
      ok: true,
      differences: [{ code: "nodata_value_differs" }],
    });
  });
});
