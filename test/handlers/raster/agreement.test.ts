// Whichever GDAL a machine has, a job gives the same rasters: the two engines side by side.
import { describe, expect, test } from "vitest";
import { type NewGeoTiff, writeGeoTiff } from "../../../src/cli/demo/geotiff_writer.js";
import type { CogOptions, Resampling } from "../../../src/geo/raster.js";
import { engineOf, gdal, newPath, scene, signal, utm, written } from "./both_engines.js";

const degrees = {
  transform: [33, 0.0001, 0, 40, 0, -0.0001],
  crs: { epsg: 4326, kind: "geographic" },
} satisfies Partial<NewGeoTiff>;
const rotated = { transform: [500_000, 8, 3, 4_500_000, 3, -8] } satisfies Partial<NewGeoTiff>;
const wedge = { nodata_wedge: 0.4 };

const cases: [string, NewGeoTiff, string, Resampling, Partial<CogOptions>][] = [
  ["heights, moved by nearest", scene("dem", wedge), "EPSG:3857", "nearest", {}],
  ["heights, moved by bilinear", scene("dem", wedge), "EPSG:4326", "bilinear", {}],
  ["bands, moved by cubic", scene("multispectral", wedge), "EPSG:3857", "cubic", { overview_resampling: "average" }],
  ["classes, moved by mode", scene("landcover", wedge), "EPSG:4326", "mode", { overview_resampling: "mode" }],
  ["colours, moved by lanczos", scene("rgb"), "EPSG:3857", "lanczos", { nodata: 0 }],
  ["an index, averaged", scene("vegetation_index", wedge), "EPSG:32636", "average", { resolution: [35, 35] }],
  ["degrees to metres", { ...scene("flood_depth", wedge), ...degrees }, "EPSG:32636", "nearest", {}],
  ["a rotated raster", { ...scene("dem"), ...rotated }, "EPSG:32636", "nearest", { nodata: -9999 }],
  [
    "a window",
    scene("continuous"),
    "EPSG:4326",
    "bilinear",
    { bounds: [33.002, 40.645, 33.01, 40.649], nodata: "nan" },
  ],
];

const title = gdal.available ? "both engines" : `both engines (skipped: ${gdal.why_not})`;
describe.skipIf(!gdal.available)(title, () => {
  test.each(cases)("agree about %s", async (_, raster, target_crs, resampling, more) => {
    const file = await written(writeGeoTiff({ ...utm, ...raster }));
    const options: CogOptions = {
      target_crs,
      resampling,
      overview_resampling: "nearest",
      compression: "deflate",
      block_size: 256,
      ...more,
    };
    const reader = await engineOf("wasm");
    const made = async (name: "wasm" | "gdal") => {
      const engine = await engineOf(name);
      const target = await newPath("cog.tif");
      await engine.cog(file, target, options, signal);
      const { crs, ...info } = await engine.info(target, signal);
      const bands = info.bands.map((_, at) => at + 1);
      return {
        info: { ...info, crs: crs?.code },
        statistics: await engine.statistics(target, { approximate: false }, signal),
        pixels: await reader.readPixels(target, { bands, size: 1000 }, signal),
        suggested: await engine.suggestWarp(file, { target_crs }, signal),
        mask: await engine.validMask(target, { size: 64 }, signal),
      };
    };
    const one = await made("wasm");
    const other = await made("gdal");
    const { transform, ...rest } = one.info;
    expect(other.info).toMatchObject(rest);
    near(other.info.transform!, transform!, 1e-9);
    near(other.suggested.bounds, one.suggested.bounds, 1e-9);
    expect([other.suggested.width, other.suggested.height]).toEqual([one.suggested.width, one.suggested.height]);
    expect(other.pixels.valid).toEqual(one.pixels.valid);
    expect(Buffer.from(other.mask.data).equals(Buffer.from(one.mask.data))).toBe(true);
    for (const [band, values] of one.pixels.values.entries()) {
      const found = other.pixels.values[band]!;
      if (resampling === "nearest" || resampling === "mode")
        expect(Buffer.from(found.buffer).equals(Buffer.from(values.buffer))).toBe(true);
      else near(found, values, 1e-6);
    }
    for (const [band, statistics] of one.statistics.entries()) {
      const found = other.statistics[band]!;
      near(Object.values(found), Object.values(statistics!), 1e-6);
    }
  });
});

/** Relative to the larger of the two; no number is near no number. */
function near(found: ArrayLike<number>, wanted: ArrayLike<number>, tolerance: number): void {
  expect(found.length).toBe(wanted.length);
  const off = Array.from(wanted).findIndex((value, at) => {
    const own = found[at]!;
    if (Number.isNaN(value) || Number.isNaN(own)) return Number.isNaN(value) !== Number.isNaN(own);
    return Math.abs(value - own) > tolerance * Math.max(Math.abs(value), Math.abs(own), 1e-3);
  });
  expect([off, found[off], wanted[off]]).toEqual([-1, undefined, undefined]);
}
