import { describe, expect, test } from "vitest";
import { type BandInfo, type BandStatistics, type RasterType, raster_types } from "../../src/geo/raster.js";
import { detectRasterType, resolveRasterType } from "../../src/geo/raster_kind.js";
import { compressionProblem, quicklookOf, suggestNodata, treatmentOf } from "../../src/geo/raster_treatment.js";
import { statisticsFindings } from "../../src/geo/statistics_findings.js";
import { band, described, stats } from "./facts.js";

const rgb = ["red", "green", "blue"].map((color) => band("uint8", { color_interpretation: color }));
const all_codecs = new Set(["deflate", "lzw", "zstd", "jpeg", "webp", "lerc"]);
const wasm_codecs = new Set(["deflate", "lzw"]);

describe("the type of a raster", () => {
  const cases: [string, BandInfo[], (BandStatistics | null)[] | null, RasterType][] = [
    ["no bands", [], null, "unknown"],
    ["complex numbers", [band("complex")], null, "unknown"],
    ["a colour table", [band("uint8", { has_color_table: true })], null, "categorical"],
    ["red, green, blue", rgb, null, "rgb"],
    ["red, green, blue, alpha", [...rgb, band("uint8", { color_interpretation: "alpha" })], null, "rgba"],
    ["red, green, blue and another", [...rgb, band("uint8")], null, "nir"],
    ["three bytes without names", [band("uint8"), band("uint8"), band("uint8")], null, "rgb"],
    ["three floats", [band("float32"), band("float32"), band("float32")], null, "multispectral"],
    ["four of 16 bits", Array.from({ length: 4 }, () => band("uint16")), null, "nir"],
    [
      "a fourth band that is all or nothing",
      Array.from({ length: 4 }, () => band("uint8")),
      [null, null, null, stats(0, 255, { mean: 200, stddev: 104.8 })],
      "rgba",
    ],
    [
      "a fourth band that is full",
      Array.from({ length: 4 }, () => band("uint8")),
      [null, null, null, stats(255, 255)],
      "rgba",
    ],
    [
      "a fourth band with all values",
      Array.from({ length: 4 }, () => band("uint8")),
      [null, null, null, stats(0, 255, { mean: 120, stddev: 40 })],
      "nir",
    ],
    ["a band called NIR", ["b", "g", "r", "NIR"].map((description) => band("uint16", { description })), null, "nir"],
    ["thirteen bands", Array.from({ length: 13 }, () => band("uint16")), null, "multispectral"],
    ["a band called dtm", [band("float32", { description: "dtm_2024" })], null, "dem"],
    ["a band called NDVI", [band("int16", { description: "NDVI" })], null, "vegetation_index"],
    [
      "bands of flood depths",
      ["depth 1in5", "depth 1in10"].map((description) => band("int16", { description })),
      null,
      "flood_depth",
    ],
    ["a band called land_cover", [band("uint16", { description: "land_cover" })], null, "categorical"],
    ["metres", [band("int16", { unit: "m" })], null, "dem"],
    ["-0.4 to 0.9", [band("float32")], [stats(-0.4, 0.9)], "vegetation_index"],
    ["0 to 1", [band("float32")], [stats(0, 1)], "continuous"],
    ["few integers", [band("uint8")], [stats(1, 17)], "categorical"],
    ["few integers in 16 bits", [band("uint16")], [stats(0, 40)], "categorical"],
    ["all bytes", [band("uint8")], [stats(0, 255)], "continuous"],
    ["heights", [band("int16")], [stats(-3, 2900, { stddev: 600 })], "dem"],
    ["temperatures", [band("float32")], [stats(-20, 25)], "continuous"],
    ["large numbers", [band("float32")], [stats(0, 1e7)], "continuous"],
    [
      "heights beside alpha",
      [band("int16"), band("int16", { color_interpretation: "alpha" })],
      [stats(100, 900), null],
      "dem",
    ],
    ["nothing known of a byte", [band("uint8")], null, "categorical"],
    ["nothing known of a float", [band("float32")], null, "continuous"],
  ];
  test.each(cases)("with %s is found, and why", (_, bands, statistics, type) => {
    const kind = detectRasterType(bands, statistics);
    expect(kind.type).toBe(type);
    expect(kind.confidence).toBeGreaterThan(0.3);
    expect(kind.reason).toMatch(/^(it|its|one|red) /);
  });

  test.each([
    ["dem", "dem"],
    ["rgb", "rgb"],
    ["landcover", "categorical"],
    ["vegetation_index", "vegetation_index"],
    ["multispectral", "nir"],
    ["continuous", "continuous"],
  ] as const)("of a synthetic %s is %s", (look, type) => {
    const { bands, statistics } = described(look);
    expect(detectRasterType(bands, statistics).type).toBe(type);
    expect(statisticsFindings(bands, statistics, type).filter(({ severity }) => severity !== "info")).toEqual([]);
  });

  test("may be given, as far as the bands allow it", () => {
    const one = [band("int16")];
    const heights = [stats(0, 900)];
    expect(resolveRasterType(null, one, heights)).toMatchObject({ type: "dem", findings: [] });
    expect(resolveRasterType("flood_depth", one, heights)).toMatchObject({ type: "flood_depth", findings: [] });
    expect(resolveRasterType("categorical", rgb, null).findings.map(({ code }) => code)).toEqual([
      "raster_type_unlikely",
    ]);
    expect(resolveRasterType("rgb", one, heights).findings).toMatchObject([
      {
        code: "raster_type_impossible",
        severity: "error",
        message: expect.stringContaining("needs three bands of uint8 or uint16"),
      },
    ]);
  });

  test("that is impossible is known for every type", () => {
    const palette = [band("uint8", { has_color_table: true })];
    const floats = [band("float32"), band("float32")];
    const impossible = (bands: BandInfo[]) =>
      raster_types.filter((type) =>
        resolveRasterType(type, bands, null).findings.some(({ severity }) => severity === "error"),
      );
    expect(impossible(palette)).toEqual([
      "rgb",
      "rgba",
      "nir",
      "dem",
      "continuous",
      "multispectral",
      "vegetation_index",
      "flood_depth",
    ]);
    expect(impossible(floats)).toEqual(["rgb", "rgba", "nir", "dem", "categorical", "vegetation_index"]);
    expect(impossible(rgb)).toEqual(["rgba", "nir", "dem", "vegetation_index"]);
  });
});

describe("the treatment of a raster", () => {
  test("never mixes classes, and never makes peaks", () => {
    const one = [band("uint8")];
    expect(treatmentOf("categorical", one, wasm_codecs)).toMatchObject({
      resampling: "nearest",
      overview_resampling: "mode",
    });
    expect(treatmentOf("dem", one, wasm_codecs)).toMatchObject({
      resampling: "bilinear",
      overview_resampling: "average",
    });
    expect(treatmentOf("rgb", rgb, wasm_codecs)).toMatchObject({ resampling: "cubic", compression: "deflate" });
  });

  test("is lossy only for pictures to look at, without nodata, and where the engine can", () => {
    const look = (bands: BandInfo[], codecs: Set<string>, type: RasterType = "rgb") =>
      treatmentOf(type, bands, codecs, "visualization").compression;
    expect(look(rgb, all_codecs)).toBe("jpeg");
    expect(look(rgb, new Set(["webp"]))).toBe("webp");
    expect(look([...rgb, band("uint8", { color_interpretation: "alpha" })], all_codecs, "rgba")).toBe("webp");
    expect(look(rgb, wasm_codecs)).toBe("deflate");
    expect(
      look(
        rgb.map((one) => ({ ...one, nodata: 0 })),
        all_codecs,
      ),
    ).toBe("deflate");
    expect(
      look(
        rgb.map((one) => ({ ...one, data_type: "uint16" })),
        all_codecs,
      ),
    ).toBe("deflate");
    expect(look([band("float32")], all_codecs, "dem")).toBe("deflate");
    expect(treatmentOf("dem", [band("float32")], all_codecs, "archive").compression).toBe("zstd");
  });

  test("says when a codec and a raster do not go together", () => {
    expect(compressionProblem("deflate", rgb, wasm_codecs)).toBeNull();
    expect(compressionProblem("zstd", rgb, wasm_codecs)).toContain("system GDAL");
    expect(compressionProblem("lerc_deflate", [band("float32")], all_codecs)).toBeNull();
    expect(compressionProblem("jpeg", [band("float32")], all_codecs)).toContain("uint8");
    expect(compressionProblem("webp", [band("uint8")], all_codecs)).toContain("three or four");
    expect(
      compressionProblem(
        "jpeg",
        rgb.map((one) => ({ ...one, nodata: 0 })),
        all_codecs,
      ),
    ).toContain("nodata");
  });

  test("takes a nodata value that no pixel has", () => {
    expect(suggestNodata("float32", [stats(0, 1)])).toBe("nan");
    expect(suggestNodata("int16", [stats(0, 1)])).toBe(-32768);
    expect(suggestNodata("int16", [stats(-32768, 1)])).toBeNull();
    expect(suggestNodata("uint8", [stats(1, 255)])).toBe(0);
    expect(suggestNodata("uint8", [stats(0, 200)])).toBe(255);
    expect(suggestNodata("uint8", [stats(0, 255)])).toBeNull();
    expect(suggestNodata("uint16", null)).toBeNull();
  });

  test("has a picture in natural colours where there are any, stretched where it has to be", () => {
    expect(quicklookOf("rgb", rgb, [null, null, null])).toEqual({
      bands: [1, 2, 3],
      minimum: [0, 0, 0],
      maximum: [255, 255, 255],
    });
    const named = ["blue", "green", "red", "nir"].map((description) => band("uint16", { description }));
    expect(
      quicklookOf(
        "nir",
        named,
        named.map(() => stats(0, 1000)),
      ).bands,
    ).toEqual([3, 2, 1]);
    const many = Array.from({ length: 6 }, () => band("uint16"));
    expect(
      quicklookOf(
        "multispectral",
        many,
        many.map(() => stats(0, 1000)),
      ).bands,
    ).toEqual([3, 2, 1]);
    const dem = quicklookOf("dem", [band("float32")], [stats(0, 1000, { mean: 200, stddev: 100 })]);
    expect(dem).toEqual({ bands: [1], minimum: [0], maximum: [400] });
    expect(quicklookOf("dem", [band("float32")], [stats(7, 7)])).toEqual({ bands: [1], minimum: [7], maximum: [8] });
    expect(quicklookOf("dem", [band("float32")], [null])).toEqual({ bands: [1], minimum: [0], maximum: [1] });
  });
});

describe("statistics", () => {
  const codes = (bands: BandInfo[], statistics: (BandStatistics | null)[], type: RasterType = "continuous") =>
    statisticsFindings(bands, statistics, type).map(({ code }) => code);
  const float = [band("float32", { nodata: -9999 })];

  const cases: [string, BandInfo[], (BandStatistics | null)[], RasterType, string[]][] = [
    ["good ones", float, [stats(-10, 3000)], "dem", []],
    ["no valid pixel", float, [null], "dem", ["raster_empty"]],
    ["99.5 % nodata", float, [stats(0, 1, { valid_percent: 0.5 })], "dem", ["raster_empty"]],
    ["95 % nodata", float, [stats(0, 1, { valid_percent: 5 })], "continuous", ["mostly_nodata"]],
    ["one empty band of two", [...float, ...float], [stats(0, 1), null], "continuous", ["band_empty"]],
    ["-9999 that counts as data", [band("float32")], [stats(-9999, 900)], "dem", ["nodata_conflict"]],
    [
      "another nodata than the one declared",
      [band("int16", { nodata: -9999 })],
      [stats(-32768, 900)],
      "dem",
      ["nodata_conflict"],
    ],
    ["the lowest float", [band("float32")], [stats(-3.4028234663852886e38, 900)], "dem", ["nodata_conflict"]],
    [
      "the fill value of netCDF",
      [band("float32")],
      [stats(0, 9.969209968386869e36)],
      "continuous",
      ["nodata_conflict"],
    ],
    ["a full 16-bit range", [band("uint16")], [stats(0, 65535)], "continuous", ["nodata_conflict"]],
    ["a full byte", [band("uint8")], [stats(0, 255)], "rgb", []],
    ["declared nodata", [band("int16", { nodata: -32768 })], [stats(0, 900)], "dem", []],
    ["1e18", float, [stats(0, 1e18)], "continuous", ["extreme_values"]],
    ["infinity", float, [stats(0, Number.POSITIVE_INFINITY)], "continuous", ["not_finite_values"]],
    ["one value", float, [stats(5, 5)], "continuous", ["constant"]],
    ["a mountain of 20 km", float, [stats(0, 20000)], "dem", ["out_of_range"]],
    ["an index of 40", float, [stats(-1, 40)], "vegetation_index", ["out_of_range"]],
    ["a scaled index", [band("int16", { scale: 0.0001 })], [stats(-2000, 9000)], "vegetation_index", []],
    ["a depth below zero", float, [stats(-3, 2)], "flood_depth", ["out_of_range"]],
    ["small values in 16 bits", [band("uint16", { nodata: 0 })], [stats(1, 200)], "continuous", ["unused_bit_depth"]],
    [
      "bands with different nodata",
      [band("float32", { nodata: 0 }), ...float],
      [stats(0, 1), stats(0, 1)],
      "continuous",
      ["nodata_differs"],
    ],
  ];
  test.each(cases)("of %s are judged", (_, bands, statistics, type, expected) => {
    expect(codes(bands, statistics, type)).toEqual(expected);
  });

  test("of many bands with the same problem are told in one line", () => {
    const many = Array.from({ length: 50 }, () => band("float32"));
    const findings = statisticsFindings(
      many,
      many.map(() => stats(5, 5)),
      "continuous",
    );
    expect(findings).toHaveLength(1);
    expect(findings[0]!.message).toBe("All valid pixels of band 1 are 5. The same is true of 49 more bands.");
  });

  test("say which value to give as nodata", () => {
    const [found] = statisticsFindings([band("int16", { description: "depth" })], [stats(-32768, 10)], "flood_depth");
    expect(found).toMatchObject({
      message: "Band 1 (depth) has pixels of -32768, which look like nodata but count as data.",
      hint: "Give `nodata: -32768` if that is what it means.",
    });
  });
});
