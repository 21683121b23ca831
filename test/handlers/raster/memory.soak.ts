// A source of two gigabytes through system GDAL, in less memory than it has bytes.
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { writeGeoTiff } from "../../../src/cli/demo/geotiff_writer.js";
import { checkCogFile } from "../../../src/geo/cog_check.js";
import type { CogOptions } from "../../../src/geo/raster.js";
import { engineOf, gdal, newPath, scene, signal, written } from "./both_engines.js";

const run = promisify(execFile);
const side = 16_384;

describe.skipIf(!gdal.available)(`a 2 GB source${gdal.available ? "" : ` (skipped: ${gdal.why_not})`}`, () => {
  test("becomes a COG with less than 1.5 GB of resident memory", { timeout: 1_800_000 }, async () => {
    const engine = await engineOf("gdal");
    const file = await bigSource();
    expect((await stat(file)).size).toBeGreaterThan(2 * 2 ** 30);
    const options: CogOptions = {
      target_crs: "EPSG:3857",
      resampling: "bilinear",
      overview_resampling: "average",
      compression: "deflate",
      block_size: 512,
    };
    const target = join(dirname(file), "cog.tif");
    const most = await peakOf(() => engine.cog(file, target, options, signal));
    const described = await peakOf(() => engine.statistics(target, { approximate: false }, signal));
    process.stdout.write(
      `peak memory: ${Math.round(most)} MB for the COG, ${Math.round(described)} MB for its statistics\n`,
    );
    expect(most).toBeGreaterThan(50);
    expect(most).toBeLessThan(1500);
    expect(described).toBeLessThan(1500);
    const { size } = await stat(target);
    const bytes = readFileSync(target);
    expect((await checkCogFile(async (at, length) => bytes.subarray(at, at + length), size)).errors).toEqual([]);
  });
});

/** Four bands of two bytes a pixel, of real relief: blown up from a small scene. */
async function bigSource(): Promise<string> {
  const small = await written(writeGeoTiff(scene("multispectral", { width: 1024, height: 1024 })), "small.tif");
  const file = await newPath("big.tif");
  const bands = [1, 2, 3, 4].flatMap((band) => ["-b", String(band)]);
  const size = ["-outsize", String(side), String(side), "-r", "bilinear", "-co", "TILED=YES", "-co", "BIGTIFF=YES"];
  await run("gdal_translate", ["-q", "-of", "GTiff", ...bands, ...size, small, file]);
  return file;
}

/** The most memory that one GDAL process below this one had at a time, in megabytes. */
async function peakOf(work: () => Promise<unknown>): Promise<number> {
  let most = 0;
  const look = setInterval(() => {
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      try {
        const status = readFileSync(`/proc/${pid}/status`, "latin1");
        const is_ours = Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]) === process.pid && /^Name:\s+gdal/m.test(status);
        if (is_ours) most = Math.max(most, Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024);
      } catch {
        // Gone meanwhile.
      }
    }
  }, 50);
  try {
    await work();
  } finally {
    clearInterval(look);
  }
  return most;
}
