// GDAL in a Python that stays makes what the programs make, and the end of one costs no call.
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { writeGeoTiff } from "../../../src/cli/demo/geotiff_writer.js";
import { default_raster_settings } from "../../../src/core/task/raster_settings.js";
import type { CogOptions } from "../../../src/geo/raster.js";
import { openRasterEngine } from "../../../src/handlers/raster/gdal/engine_choice.js";
import { askGdal } from "../../../src/handlers/raster/gdal/engine_cli.js";
import { gdalPython } from "../../gdal_bin.js";
import { engineOf, gdal, newPath, scene, signal, written, writtenScene } from "./both_engines.js";

const python = gdal.available ? await gdalPython() : gdal.why_not;
const here = typeof python !== "string";
const known = here ? await askGdal(default_raster_settings) : null;

const plain: CogOptions = {
  target_crs: "EPSG:32636",
  resampling: "bilinear",
  overview_resampling: "average",
  compression: "deflate",
  block_size: 256,
};

describe.skipIf(!here)(`a warm Python${here ? "" : ` (skipped: ${python})`}`, () => {
  test("is found where it has the GDAL of the programs", () => {
    expect(known).toMatchObject({ python: expect.stringContaining("python3") });
  });

  test("makes the very bytes that the programs make, and tells the same", async () => {
    const [warm, cold] = [await openRasterEngine({ prefer: "auto" }), await engineOf("gdal")];
    for (const look of ["dem", "rgb", "landcover"] as const) {
      const file = await written(writeGeoTiff(scene(look, { width: 300, height: 280 })));
      expect(await warm.info(file, signal)).toEqual(await cold.info(file, signal));
      const options = { ...plain, target_crs: "EPSG:3857", resampling: "nearest" as const };
      expect(await warm.suggestWarp(file, options, signal)).toEqual(await cold.suggestWarp(file, options, signal));
      const [one, other] = [await newPath("cog.tif"), await newPath("cog.tif")];
      await warm.cog(file, one, options, signal);
      await cold.cog(file, other, options, signal);
      expect((await readFile(one)).equals(await readFile(other))).toBe(true);
    }
  });

  test("words what GDAL refuses as the programs do, and goes on with the next", async () => {
    const [warm, cold] = [await openRasterEngine({ prefer: "auto" }), await engineOf("gdal")];
    const bytes = Buffer.from(writeGeoTiff(scene("dem")));
    const broken = await written(bytes.subarray(0, bytes.length - 3000));
    const told = (engine: typeof warm) =>
      engine.cog(broken, broken.replace("source", "cog"), plain, signal).catch((error) => error);
    const [one, other] = [await told(warm), await told(cold)];
    expect(one).toMatchObject({ category: other.category, code: other.code });
    expect(await warm.info(await writtenScene("dem"), signal)).toMatchObject({ width: 150 });
  });

  test("what dies with an old one is done by a fresh one, and a call that is given up ends it", async () => {
    const warm = await openRasterEngine({ prefer: "auto", limits: { cpu_s: 600 } });
    const file = await writtenScene("dem");
    await warm.info(file, signal);
    const [pid] = children();
    const next = warm.info(file, signal);
    process.kill(pid!, "SIGKILL");
    expect(await next).toMatchObject({ width: 150 });
    expect(await warm.info(file, signal)).toMatchObject({ width: 150 });
    const stop = new AbortController();
    const given_up = warm.info(file, stop.signal);
    stop.abort(new Error("given up"));
    await expect(given_up).rejects.toThrow("given up");
    expect(await warm.info(file, signal)).toMatchObject({ width: 150 });
    expect(children()).not.toContain(pid);
  });
});

/** The Pythons below this process, the newest first. */
function children(): number[] {
  const all = execFileSync("ps", ["-o", "pid=,ppid=,args=", "-e"], { encoding: "utf8" });
  const own = [...all.matchAll(/^\s*(\d+)\s+(\d+)\s+(.*)$/gm)].filter(
    ([, , parent, args = ""]) => Number(parent) === process.pid && args.includes("python3 -I -c"),
  );
  return own.map(([, pid]) => Number(pid)).toReversed();
}
