// A COG that is larger than GDAL's cache is made through a file of its pixels: the same bytes, and nothing else is left.
import { readdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { writeGeoTiff } from "../../../src/cli/demo/geotiff_writer.js";
import type { CogOptions } from "../../../src/geo/raster.js";
import { openRasterEngine } from "../../../src/handlers/raster/gdal/engine_choice.js";
import { engineOf, gdal, newPath, scene, signal, written } from "./both_engines.js";

const size = { width: 1100, height: 900 };
const options: CogOptions = {
  target_crs: "EPSG:3857",
  resampling: "bilinear",
  overview_resampling: "average",
  compression: "deflate",
  block_size: 256,
};

describe.skipIf(!gdal.available)(`pixels are warped once${gdal.available ? "" : ` (skipped: ${gdal.why_not})`}`, () => {
  test.for([
    { look: "dem", more: {}, chosen: {} },
    { look: "rgb", more: {}, chosen: { resampling: "cubic" } },
    { look: "rgb", more: {}, chosen: { compression: "jpeg", quality: 85, add_alpha: true } },
    { look: "landcover", more: { nodata: 0 }, chosen: { resampling: "nearest", overview_resampling: "mode" } },
    { look: "multispectral", more: {}, chosen: { bands: [4, 2], band_names: ["nir", "green"] } },
  ] as const)("$look, $chosen", async ({ look, more, chosen }) => {
    const [roomy, narrow] = [
      await engineOf("gdal"),
      await openRasterEngine({ prefer: "gdal", limits: { cache_mb: 1 } }),
    ];
    const file = await written(writeGeoTiff({ ...scene(look, size), ...more }));
    const asked = { ...options, ...chosen, ...("bands" in chosen ? { bands: [...chosen.bands!] } : {}) } as CogOptions;
    const { bounds, transform } = await roomy.suggestWarp(file, asked, signal);
    const placed = { ...asked, bounds, resolution: [transform[1], -transform[5]] } as CogOptions;
    const [at_once, through_a_file] = [await newPath("cog.tif"), await newPath("cog.tif")];
    await roomy.cog(file, at_once, placed, signal);
    const warps = vi.spyOn((narrow as unknown as { gdal: { warp: () => Promise<void> } }).gdal, "warp");
    warps.mockClear();
    await narrow.cog(file, through_a_file, placed, signal);
    expect(warps.mock.calls.map((call) => (call as unknown[])[1])).toEqual([expect.stringMatching(/\.vrt$/)]);
    expect((await readFile(through_a_file)).equals(await readFile(at_once))).toBe(true);
    expect(await readdir(dirname(through_a_file))).toEqual(["cog.tif"]);
  });
});
